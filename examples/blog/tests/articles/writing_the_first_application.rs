//! The Rust of the article `writing-the-first-application`.

use std::process::ExitCode;

use skep::html::{DOCTYPE, Html};
use skep::prelude::*;

struct Tea { name: &'static str, minutes: u8, degrees: u8 }

const TEAS: &[Tea] = &[
    Tea { name: "assam", minutes: 4, degrees: 95 },
    Tea { name: "sencha", minutes: 2, degrees: 70 },
];

/// All teas.
#[derive(Service)]
#[service(GET "/")]
struct Shelf;

/// How to make one of them.
#[derive(Service)]
#[service(GET "/teas/{name}")]
struct Brew { name: Slug }

fn page(title: &str, content: &Html) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
            }
            body { h1 { (title) } (content) }
        }
    })
}

impl Handle for Shelf {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(page("Teas", &html! {
            ul {
                @for tea in TEAS {
                    li { a href=(Brew { name: Slug::of(tea.name) }) { (tea.name) } }
                }
            }
        }))
    }
}

impl Handle for Brew {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let tea = TEAS.iter().find(|tea| tea.name == self.name.as_str()).or_404()?;
        Ok(page(tea.name, &html! {
            p { (tea.minutes) " minutes at " (tea.degrees) " °C." }
            p { a href=(Shelf) { "All teas" } }
        }))
    }
}

fn app() -> App {
    App::new().name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")).serve(services![Shelf, Brew])
}

fn main() -> ExitCode {
    skep_server::run(app)
}

#[test]
fn every_tea_on_the_shelf_has_a_page() {
    let client = skep::test::Client::new(app());
    assert!(client.get("/").text().contains("sencha"));
    for tea in TEAS {
        let url = Brew { name: Slug::of(tea.name) }.url();
        assert_eq!(client.get(&url).status(), 200, "{url}");
    }
    assert_eq!(client.get("/teas/cocoa").status(), 404);
}
