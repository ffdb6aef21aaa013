//! The Rust of the article `migrations-in-the-executable`.

use skep::prelude::*;
use skep::sql::migrations;

fn app() -> App {
    App::new().serve(services![Plots]).database(migrations!("migrations"))
}

#[derive(Service)]
#[service(GET "/plots")]
struct Plots;

impl Handle for Plots {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("No plots yet"))
    }
}

#[test]
fn a_new_society_has_no_plots() {
    let client = skep::test::Client::new(app());
    assert!(client.get("/plots").text().contains("No plots yet"));
}
