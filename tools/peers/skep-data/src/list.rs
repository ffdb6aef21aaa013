//! The list of articles: the newest ones, and how many there are.

use futures_util::future::try_join;
use skep::prelude::*;
use skep::sql::{Row, query};

/// Articles on a page of the list.
const PER_PAGE: i64 = 20;

/// The newest articles, perhaps those with a tag.
#[derive(Service)]
#[service(GET "/list")]
pub(crate) struct List;

/// What titles link to.
#[derive(Service)]
#[service(GET "/writings/{slug}")]
pub(crate) struct Writing {
    slug: Slug,
}

/// What tags and the way to older articles link to.
#[derive(Service)]
#[service(GET "/")]
pub(crate) struct Tagged {
    #[query]
    page: Option<i64>,
    #[query]
    tag: Option<Slug>,
}

#[derive(Row)]
struct Article {
    slug: Slug,
    title: String,
    summary: String,
    published: String,
    tags: String,
}

impl Handle for List {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let newest =
            "select slug, title, summary, published, tags from article order by published desc, id desc limit ?";
        let db = cx.db();
        let (articles, count) =
            try_join(db.all(query(newest, PER_PAGE)), db.one("select count(*) from article")).await?;
        Ok(page(&articles, count.or_404()?))
    }
}

fn page(articles: &[Article], count: i64) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Writings" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                link rel="stylesheet" href="/static/site.css";
                link rel="alternate" type="application/atom+xml" title="Writings" href="/feed.atom";
            }
            body {
                header.site {
                    a.name href="/" { "Writings" }
                    nav aria-label="Site" {
                        a href="/" aria-current="page" { "Articles" }
                        a href="/archive" { "Archive" }
                        a href="/tags" { "Tags" }
                        a href="/search" { "Search" }
                    }
                }
                main {
                    h1 { "Newest articles" }
                    @for article in articles { (teaser(article)) }
                    (pager(count))
                }
                footer {
                    p { "Written for the bench. " a href="/feed.atom" { "Atom" } " " a href="/feed.rss" { "RSS" } }
                }
            }
        }
    })
}

fn teaser(article: &Article) -> Html {
    html! {
        article {
            h2 { a href=(Writing { slug: article.slug.clone() }) { (article.title) } }
            p.meta { "Published on " time datetime=(article.published) { (article.published) } }
            p.summary { (article.summary) }
            ul.tags aria-label="Tags" {
                @for tag in article.tags.split(' ').filter_map(|tag| tag.parse::<Slug>().ok()) {
                    li { a href=(Tagged { page: None, tag: Some(tag.clone()) }) rel="tag" { (tag) } }
                }
            }
        }
    }
}

fn pager(count: i64) -> Html {
    let pages = (count + PER_PAGE - 1) / PER_PAGE;
    html! {
        nav.pager aria-label="Pages" {
            span { "Page 1 of " (pages) ", " (count) " articles" }
            @if pages > 1 {
                a href=(Tagged { page: Some(2), tag: None }) rel="next" { "Older articles" }
            }
        }
    }
}

impl Handle for Writing {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.slug.to_string()))
    }
}

impl Handle for Tagged {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let Self { page, tag } = self;
        Ok(Response::text(format!("page {} of {}", page.unwrap_or(1), tag.map_or("all".into(), |tag| tag.to_string()))))
    }
}
