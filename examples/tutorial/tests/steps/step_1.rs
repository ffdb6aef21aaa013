//! Step 1: a page.

use skep::prelude::*;

/// The guest book.
#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { h1 { "Guest book" } }))
    }
}

fn app() -> App {
    App::new().name("guestbook", "0.1.0").serve(services![Index])
}

#[test]
fn the_page_has_a_heading() {
    let client = skep::test::Client::new(app());
    assert_eq!(client.get("/").text(), "<h1>Guest book</h1>");
}
