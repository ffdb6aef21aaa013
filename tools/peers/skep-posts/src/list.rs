//! The list of articles, from a table with rows and from one without.

use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::Row;

/// The newest articles. Kept, unless the settings say `cache.pages.tiers=null`.
#[derive(Service)]
#[service(GET "/page")]
pub(crate) struct Page;

/// The same of a table without rows.
#[derive(Service)]
#[service(GET "/empty")]
pub(crate) struct Empty;

/// What titles link to.
#[derive(Service)]
#[service(GET "/writings/{slug}")]
pub(crate) struct Writing {
    slug: Slug,
}

/// What tags link to.
#[derive(Service)]
#[service(GET "/tags/{tag}")]
pub(crate) struct Tagged {
    tag: Slug,
}

#[derive(Row)]
struct Article {
    slug: Slug,
    title: String,
    published: String,
    summary: String,
    tags: String,
}

impl PublicPage for Page {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let newest = "select slug, title, published, summary, tags from article order by published desc limit 20";
        Ok(page(&cx.db().all(newest).await?))
    }
}

impl PublicPage for Empty {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let newest = "select slug, title, published, summary, tags from blank order by published desc limit 20";
        Ok(page(&cx.db().all(newest).await?))
    }
}

fn page(articles: &[Article]) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            head { title { "Writings" } meta charset="utf-8"; }
            body {
                h1 { "Newest articles" }
                @for article in articles {
                    article {
                        h2 { a href=(Writing { slug: article.slug.clone() }) { (article.title) } }
                        p { time datetime=(article.published) { (article.published) } }
                        p { (article.summary) }
                        ul {
                            @for tag in article.tags.split_whitespace().filter_map(|tag| tag.parse::<Slug>().ok()) {
                                li { a href=(Tagged { tag: tag.clone() }) { (tag) } }
                            }
                        }
                    }
                }
            }
        }
    })
}

impl Handle for Writing {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.slug.to_string()))
    }
}

impl Handle for Tagged {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.tag.to_string()))
    }
}
