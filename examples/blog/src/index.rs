//! Lists of articles: all, and those with a tag.

use schemars::JsonSchema;
use serde::Serialize;
use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::html::Href;
use skep::prelude::*;
use skep::sql::{self, Row};

use crate::article::Article;
use crate::layout::{self, NAME, day, page};
use crate::library;

/// Articles on a page of a list.
const PER_PAGE: u32 = 20;

/// All articles, the newest first.
#[derive(Service)]
#[service(GET "/")]
pub struct Index {
    /// Counted from 1.
    #[query(default = 1)]
    pub page: u32,
}

/// The articles with a tag.
#[derive(Service)]
#[service(GET "/tags/{tag}")]
pub struct Tagged {
    /// The tag.
    pub tag: Slug,
    /// Counted from 1.
    #[query(default = 1)]
    pub page: u32,
}

/// An article in a list.
#[derive(Row, Serialize, JsonSchema)]
pub struct Teaser {
    /// Its address.
    pub slug: Slug,
    /// Its title.
    pub title: String,
    /// A day, as `2026-11-21`.
    pub published: String,
    /// A sentence or two.
    pub summary: String,
    /// Separated by spaces.
    pub tags: String,
}

impl PublicPage for Index {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let total = count(cx.db(), None).await?;
        let teasers = teasers(cx.db(), None, self.page).await?;
        if self.page == 0 || (teasers.is_empty() && self.page != 1) {
            return Err(Error::not_found());
        }
        Ok(page(
            NAME,
            &html! {
                h1 { (NAME) }
                (list(&teasers))
                (pages(self.page, total, |page| Index { page }))
            },
        ))
    }
}

impl PublicPage for Tagged {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let total = count(cx.db(), Some(&self.tag)).await?;
        let teasers = teasers(cx.db(), Some(&self.tag), self.page).await?;
        if self.page == 0 || teasers.is_empty() {
            return Err(Error::not_found());
        }
        let title = format!("Articles about {}", self.tag);
        Ok(page(
            &title,
            &html! {
                h1 { (title) }
                p.meta { "Also as a feed: " a href=(crate::feed::TaggedAtom { tag: self.tag.clone() }) { "Atom" } ", "
                    a href=(crate::feed::TaggedRss { tag: self.tag.clone() }) { "RSS" } }
                (list(&teasers))
                (pages(self.page, total, |page| Tagged { tag: self.tag.clone(), page }))
            },
        ))
    }
}

/// How many articles there are, with a tag or in all.
pub async fn count(db: &sql::Local, tag: Option<&Slug>) -> Result<u32> {
    let count = match tag {
        None => sql!(u32, "select count(*) from article"),
        Some(tag) => sql!(u32, "select count(*) from article_tag where tag = ?", tag),
    };
    Ok(db.one(count).await?.unwrap_or(0))
}

/// One page of a list: the newest articles first, with a tag or all.
pub async fn teasers(db: &sql::Local, tag: Option<&Slug>, page: u32) -> Result<Vec<Teaser>> {
    let offset = i64::from(page.saturating_sub(1)) * i64::from(PER_PAGE);
    let select = sql!(
        Teaser,
        "select slug, title, published, summary, tags from article"
        {if let Some(tag) = tag: "where id in (select article_id from article_tag where tag = ?)", tag}
        "order by published desc, id desc limit ? offset ?",
        PER_PAGE, offset
    );
    Ok(db.all(select).await?)
}

/// Articles, each with what makes one want to read it.
pub fn list(teasers: &[Teaser]) -> Html {
    html! {
        @for teaser in teasers {
            article.teaser {
                h2 { a href=(Article::link(teaser.slug.clone())) { (teaser.title) } }
                p.meta { (day(&teaser.published)) }
                p { (teaser.summary) }
                (layout::tags(teaser.tags.split_whitespace()))
            }
        }
        @if teasers.is_empty() {
            p.notice { "Nothing here yet." }
        }
    }
}

/// The way to older and newer articles.
pub fn pages<L: Href>(page: u32, total: u32, link: impl Fn(u32) -> L) -> Html {
    let last = total.div_ceil(PER_PAGE);
    html! {
        @if last > 1 {
            nav.pager aria-label="Pages" {
                span { @if page > 1 { a rel="prev" href=(link(page - 1)) { "← Newer" } } }
                span { "Page " (page) " of " (last) }
                span { @if page < last { a rel="next" href=(link(page + 1)) { "Older →" } } }
            }
        }
    }
}
