//! Step 3: a database.

use skep::html::Document;
use skep::prelude::*;
use skep::sql::{Row, migrations};

#[derive(Row)]
struct Entry {
    id: i64,
    name: String,
    text: String,
}

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

fn list(entries: &[Entry]) -> Html {
    html! {
        ul {
            @for entry in entries {
                li { a href=(Show { id: entry.id }) { (entry.name) } ": " (entry.text) }
            }
        }
    }
}

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let entries = cx.db().all(sql!(Entry, "select id, name, text from entry order by id desc limit 50")).await?;
        Ok(Response::html(page("Guest book", &list(&entries))))
    }
}

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = sql!("select name, text from entry where id = ?", self.id);
        let entry = cx.db().one(select).await?.or_404()?;
        Ok(Response::html(page(&entry.name, &html! { p { (entry.text) } })))
    }
}

fn app() -> App {
    App::new().name("guestbook", "0.1.0").serve(services![Index, Show]).database(migrations!("migrations"))
}

#[test]
fn a_new_book_is_empty() {
    let client = skep::test::Client::new(app());
    assert!(client.get("/").text().contains("<ul></ul>"));
    assert_eq!(client.get("/entries/1").status(), 404);
}
