//! Step 7: background work.

use std::time::Duration;

use skep::Site;
use skep::cache::{EntryPolicy, Fragment, SharedCx};
use skep::form::{MultilineText, Text};
use skep::html::Document;
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Row, migrations};

skep::assets!(pub Static = "static" at "/static");

/// The name that a visitor signed with last.
const NAME: Key<Text<1, 80>> = Key::new("name");

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

/// Forgets the visitor.
#[derive(Service)]
#[service(POST "/forget")]
struct Forget;

fn page(title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href=(Static::STYLE_CSS);
            }
            body {
                header { a href=(Index) { "Guest book" } }
                main { h1 { (title) } (content) }
            }
        }
    }
}

/// The list of entries, rendered once for all visitors.
#[derive(Hash)]
struct Newest;

impl Fragment for Newest {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let entries = cx.db().all(sql!(Entry, "select id, name, text from entry order by id desc limit 50")).await?;
        Ok(html! {
            ul {
                @for entry in &entries {
                    li { a href=(Show { id: entry.id }) { (entry.name) } ": " (entry.text) }
                }
            }
        })
    }
}

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let newest = cx.fragment(&Newest).await?;
        let name = cx.session().get(&NAME).await?;
        let mut form = Sign::form(cx);
        if let Some(name) = &name {
            form = form.value(Sign::name, name);
        }
        let content = html! {
            @for message in cx.flashes() { p role="status" { (message) } }
            form (form) {
                label (Sign::name) { "Name" }
                input (Sign::name) autocomplete="name";
                label (Sign::text) { "Message" }
                textarea (Sign::text);
                button { "Sign the book" }
            }
            @if name.is_some() {
                form (Forget::form(cx)) { button { "Forget my name" } }
            }
            (newest)
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
        cx.session().set(&NAME, &self.name).await?;
        cx.flash("Thank you.");
        Ok(Response::see_other(Index))
    }
}

impl Handle for Forget {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().end().await?;
        Ok(Response::see_other(Index))
    }
}

/// Deletes entries that are older than a year.
fn delete_old(site: &Site) -> Result<()> {
    site.db().write(|db| db.execute(sql!("delete from entry where written < datetime('now', '-1 year')")))?;
    Ok(())
}

fn app() -> App {
    App::new()
        .name("guestbook", "0.1.0")
        .serve(services![Index, Show, Sign, Forget])
        .files("/static", Static::files())
        .database(migrations!("migrations"))
        .every("delete old entries", Duration::from_hours(1), delete_old)
}

#[test]
fn old_entries_are_deleted() {
    let site = app().open(skep::Setup::default()).unwrap();
    site.db()
        .write(|db| db.execute(sql!("insert into entry (name, text, written) values ('Ann', 'Old.', '2001-01-01')")))
        .unwrap();
    delete_old(&site).unwrap();
    let left = site.db().write(|db| db.one::<i64>("select count(*) from entry")).unwrap();
    assert_eq!(left, Some(0));
}
