//! Step 2: pages and links.

use skep::html::Document;
use skep::prelude::*;

struct Entry {
    id: i64,
    name: &'static str,
    text: &'static str,
}

const ENTRIES: &[Entry] = &[
    Entry { id: 1, name: "Ann", text: "We liked the garden." },
    Entry { id: 2, name: "Bob", text: "So did the bees." },
];

/// The guest book.
#[derive(Service)]
#[service(GET "/")]
struct Index;

/// One entry.
#[derive(Service)]
#[service(GET "/entries/{id}")]
struct Show {
    id: i64,
}

fn page(title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
            }
            body {
                header { a href=(Index) { "Guest book" } }
                main { h1 { (title) } (content) }
            }
        }
    }
}

impl Handle for Index {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let content = html! {
            ul {
                @for entry in ENTRIES {
                    li { a href=(Show { id: entry.id }) { (entry.name) } ": " (entry.text) }
                }
            }
        };
        Ok(Response::html(page("Guest book", &content)))
    }
}

impl Handle for Show {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let entry = ENTRIES.iter().find(|entry| entry.id == self.id).or_404()?;
        Ok(Response::html(page(entry.name, &html! { p { (entry.text) } })))
    }
}

fn app() -> App {
    App::new().name("guestbook", "0.1.0").serve(services![Index, Show])
}

#[test]
fn every_entry_has_a_page() {
    let client = skep::test::Client::new(app());
    assert!(client.get("/").text().contains(r#"<a href="/entries/2">Bob</a>"#));
    assert!(client.get(&Show { id: 2 }.url()).text().contains("So did the bees."));
    assert_eq!(client.get("/entries/3").status(), 404);
    assert_eq!(client.get("/entries/x").status(), 404);
}
