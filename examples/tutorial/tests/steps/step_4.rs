//! Step 4: a form.

use skep::form::{MultilineText, Text};
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

/// Adds an entry.
#[derive(Service)]
#[service(POST "/", page = Index)]
struct Sign {
    #[form]
    name: Text<1, 80>,
    #[form]
    text: MultilineText<1, 2_000>,
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
        let form = Sign::form(cx);
        let content = html! {
            @for message in cx.flashes() { p role="status" { (message) } }
            form (form) {
                label (Sign::name) { "Name" }
                input (Sign::name) autocomplete="name";
                label (Sign::text) { "Message" }
                textarea (Sign::text);
                button { "Sign the book" }
            }
            (list(&entries))
        };
        Ok(Response::html(page("Guest book", &content)))
    }
}

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = sql!("select name, text from entry where id = ?", self.id);
        let entry = cx.db().one(select).await?.or_404()?;
        Ok(Response::html(page(&entry.name, &html! { p { (entry.text) } })))
    }
}

impl Handle for Sign {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert = sql!("insert into entry (name, text) values (?, ?)", &self.name, &self.text);
        cx.db().execute(insert).await?;
        cx.flash("Thank you.");
        Ok(Response::see_other(Index))
    }
}

fn app() -> App {
    App::new().name("guestbook", "0.1.0").serve(services![Index, Show, Sign]).database(migrations!("migrations"))
}

#[test]
fn a_visitor_signs_the_book() {
    let client = skep::test::Client::new(app());
    let page = client.get("/").form::<Sign>().set(Sign::name, "Ann").set(Sign::text, "Lovely & quiet.").submit();
    assert_eq!(page.url(), "/");
    assert!(page.text().contains("Thank you.") && page.text().contains("Lovely &amp; quiet."), "{}", page.text());
}

#[test]
fn an_entry_without_a_name_is_shown_again() {
    let client = skep::test::Client::new(app());
    let page = client.post("/", &[("name", ""), ("text", "Lovely.")]);
    assert_eq!(page.status(), 422);
    assert!(page.text().contains("Lovely.</textarea>"), "{}", page.text());
}
