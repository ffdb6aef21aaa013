//! The Rust of the article `the-methods-nobody-writes`.

use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
struct Home;

impl Handle for Home {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("home"))
    }
}

fn app() -> App {
    App::new().serve(services![Home])
}

#[test]
fn head_is_get_without_a_body() {
use skep::Method;

let client = skep::test::Client::new(app());
let head = client.request(Method::HEAD, "/").send();
assert_eq!(head.body().len(), 0);
assert_ne!(head.header("content-length"), Some("0"));
}

fn kinds(calendar: String) -> Result<()> {
Response::text("plain text");                    // text/plain; charset=utf-8
Response::html(html! { p { "a page" } });        // text/html; charset=utf-8
Response::json(&vec![1, 2, 3])?;                 // application/json
Response::with_content_type("text/calendar; charset=utf-8", calendar);
Ok(())
}
