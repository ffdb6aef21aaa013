//! The Rust of the article `dark-mode-in-one-place`.

use std::time::Duration;

use skep::param::{Choice, Param};
use skep::prelude::*;

#[derive(Clone, Copy, PartialEq, Param)]
enum Scheme { Light, Dark }

#[derive(Service)]
#[service(GET "/")]
struct Home;

impl Handle for Home {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(page(cx)))
    }
}

#[derive(Service)]
#[service(POST "/scheme")]
struct Choose {
    #[form]
    scheme: Scheme,
}

impl Handle for Choose {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_cookie(&Cookie::new("scheme", self.scheme.value()).max_age(Duration::from_secs(365 * 86_400)));
        Ok(Response::see_other(Home))
    }
}

fn switch(cx: &Cx<'_>) -> Html {
    html! {
        form (Choose::form(cx)) {
            button name="scheme" value="light" { "Light" }
            button name="scheme" value="dark" { "Dark" }
        }
    }
}

fn page(cx: &Cx<'_>) -> Html<skep::html::Document> {
    let head: Html<skep::html::Metadata> = piece! { title { "Colours" } };
    let body = switch(cx);
    let head = html! { head { (head) } };
    let body = html! { body { (body) } };
let scheme = cx.cookie("scheme").and_then(Scheme::parse);
let name = scheme.map(|scheme| scheme.value());
html! { html lang="en" data-scheme=[name] { (head) (body) } }
}

#[test]
fn the_choice_is_in_the_page() {
    let client = skep::test::Client::new(App::new().serve(services![Home, Choose]));
    let answer = client.post("/scheme", &[("scheme", "dark")]);
    assert!(answer.text().contains(r#"data-scheme="dark""#), "{}", answer.text());
}
