//! An article: its text, what readers wrote below it, and the form to write more.

use std::time::Duration;

use skep::cache::{EntryPolicy, Fragment, SharedCx};
use skep::html::Href;
use skep::prelude::*;
use skep::sql::{Cursor, PageQuery, Row};
use skep_live::live;

use crate::comment;
use crate::layout::{self, day, page};
use crate::library;
use crate::markdown;

/// One article.
#[derive(Service)]
#[service(GET "/writings/{page}")]
pub struct Article {
    /// Its address.
    pub page: Slug,
    /// Which of its comments; the first ones without it.
    #[query]
    pub comments: Option<Cursor<i64>>,
}

/// A comment below it.
#[derive(Row)]
pub struct Comment {
    id: i64,
    author: String,
    html: String,
    written: String,
}

impl Handle for Article {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        show(cx, &self.page, self.comments, None).await
    }
}

/// The page of an article, perhaps with a comment as it would look. Its form is one reader's; the rest is kept for all.
pub async fn show(cx: &Cx<'_>, slug: &Slug, at: Option<Cursor<i64>>, preview: Option<Html>) -> Result {
    let title = cx.db().one(sql!(String, "select title from article where slug = ?", slug)).await?.or_404()?;
    let text = cx.fragment(&Text { page: slug.clone() }).await?;
    let comments = cx.fragment(&Comments { page: slug.clone(), at }).await?;
    Ok(page(
        &title,
        &html! {
            (text)
            section aria-labelledby="comments" {
                // Others' comments appear while it is read.
                (live("comments", comments))
                (comment::form(cx, slug, preview))
            }
        },
    ))
}

/// What was written in an article.
#[derive(Hash)]
struct Text {
    page: Slug,
}

#[derive(Row)]
struct Written {
    title: String,
    published: String,
    markdown: String,
    tags: String,
}

impl Fragment for Text {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let select = sql!(Written, "select title, published, markdown, tags from article where slug = ?", &self.page);
        let article = cx.db().one(select).await?.or_404()?;
        Ok(html! {
            article {
                h1 { (article.title) }
                p.meta { (day(&article.published)) " · " a rel="bookmark" href=(Article::link(self.page.clone())) { "Permalink" } }
                (layout::tags(article.tags.split_whitespace()))
                (markdown::article(&article.markdown))
            }
        })
    }
}

/// What readers wrote below it.
#[derive(Hash)]
struct Comments {
    page: Slug,
    at: Option<Cursor<i64>>,
}

/// A page of comments, the oldest first.
pub fn comments(page: &Slug, at: Option<Cursor<i64>>) -> PageQuery<'_, Comment, Cursor<i64>> {
    sql!(Comment, "select id, author, html, written from comment where slug = ? order by id" {keyset 50: at}, page)
}

/// A link to a comment, on the page of comments behind this one.
pub fn to_comment(page: Slug, behind: i64, comment: i64) -> impl Destination + Href {
    Article::link(page).comments(Cursor::After(behind)).at(format!("comment-{comment}"))
}

impl Fragment for Comments {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let count = sql!(u32, "select count(*) from comment where slug = ?", &self.page);
        let count = cx.db().one(count).await?.unwrap_or(0);
        let comments = cx.db().page(comments(&self.page, self.at)).await?;
        let link = |at: &Cursor<i64>| Article::link(self.page.clone()).comments(*at).at("comments");
        Ok(html! {
            h2 #comments { (heading(count)) }
            @for comment in &comments {
                (below(comment))
            }
            @if comments.previous.is_some() || comments.next.is_some() {
                nav.pager aria-label="Comments" {
                    span { @if let Some(at) = &comments.previous { a rel="prev" href=(link(at)) { "← Earlier comments" } } }
                    span { @if let Some(at) = &comments.next { a rel="next" href=(link(at)) { "Later comments →" } } }
                }
            }
        })
    }
}

fn heading(comments: u32) -> String {
    match comments {
        0 => "No comments yet".into(),
        1 => "One comment".into(),
        many => format!("{many} comments"),
    }
}

fn below(comment: &Comment) -> Html {
    let day_written = comment.written.split('T').next().unwrap_or_default();
    html! {
        article.comment id={ "comment-" (comment.id) } {
            h3.meta { strong { (comment.author) } ", " (day(day_written)) " · "
                a href={ "#comment-" (comment.id) } { "#" (comment.id) } }
            // It was cleaned when it was written.
            (Html::trusted(&comment.html))
        }
    }
}
