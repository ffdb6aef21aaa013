//! The steps of the tutorial, compiled and run. `cargo xtask tidy` checks that the code of each page stands in them.

use skep::Service;

mod step_1;
mod step_2;
mod step_3;
mod step_4;
mod step_5;
mod step_6;
mod step_7;

/// Step 8 is the library itself.
#[test]
fn step_8_serves_every_page() {
    let client = skep::test::Client::new(tutorial::app());
    assert_eq!(client.get("/").status(), 200);
    let page = client.post("/", &[("name", "Ann"), ("text", "Lovely.")]);
    assert!(page.text().contains("/entries/1"), "{}", page.text());
    assert_eq!(client.get(&tutorial::Show { id: 1 }.url()).status(), 200);
}
