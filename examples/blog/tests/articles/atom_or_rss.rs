//! The Rust of the article `atom-or-rss`.

use skep::prelude::*;
use skep::sql::Row;

#[derive(Row)]
struct Note {
    slug: Slug,
    title: String,
    day: String,
    html: String,
}

#[derive(Service)]
#[service(GET "/")]
struct Home;

impl Handle for Home {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("home"))
    }
}

#[derive(Service)]
#[service(GET "/notes/{slug}")]
struct Show {
    slug: Slug,
}

impl Handle for Show {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.slug.to_string()))
    }
}

fn feed(_home: &str, _address: &str, _entries: &[(String, Note)]) -> Result<String> {
    Ok(String::new())
}

#[derive(Service)]
#[service(GET "/feed.atom")]
struct Atom;

impl Handle for Atom {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let notes = cx.db().all::<Note>("select slug, title, day, html from note order by day desc limit 20").await?;
        let entries: Vec<(String, Note)> =
            notes.into_iter().map(|note| (cx.absolute(Show { slug: note.slug.clone() }), note)).collect();
        let xml = feed(&cx.absolute(Home), &cx.absolute(&self), &entries)?;
        Ok(Response::with_content_type("application/atom+xml; charset=utf-8", xml))
    }
}

fn link() -> Html<skep::html::Metadata> {
html! { link rel="alternate" type="application/atom+xml" title="Notes on bread" href=(Atom); }
}
