//! An article: its text, what readers wrote below it, and the form to write more.

use skep::prelude::*;
use skep::sql::{Row, query};

use crate::comment;
use crate::layout::{self, day, page};
use crate::markdown;

/// One article.
#[derive(Service)]
#[service(GET "/writings/{page}")]
pub struct Article {
    /// Its address.
    pub page: Slug,
}

#[derive(Row)]
struct Text {
    title: String,
    published: String,
    markdown: String,
    tags: String,
}

#[derive(Row)]
struct Comment {
    id: i64,
    author: String,
    html: String,
    written: String,
}

impl Handle for Article {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        show(cx, &self.page, None).await
    }
}

/// The page of an article, perhaps with a comment as it would look.
pub async fn show(cx: &Cx<'_>, slug: &Slug, preview: Option<Html>) -> Result {
    let db = cx.db();
    let article = db.one::<Text>(query(TEXT, slug)).await?.or_404()?;
    let comments = db.all::<Comment>(query(COMMENTS, slug)).await?;
    Ok(page(
        &article.title,
        &html! {
            article {
                h1 { (article.title) }
                p.meta { (day(&article.published)) " · " a rel="bookmark" href=(Article { page: slug.clone() }) { "Permalink" } }
                (layout::tags(article.tags.split_whitespace()))
                (markdown::article(&article.markdown))
            }
            section aria-labelledby="comments" {
                h2 #comments { (heading(comments.len())) }
                @for comment in &comments {
                    (below(comment))
                }
                (comment::form(cx, slug, preview))
            }
        },
    ))
}

const TEXT: &str = "select title, published, markdown, tags from article where slug = ?";

const COMMENTS: &str = "select id, author, html, written from comment where slug = ? order by id";

fn heading(comments: usize) -> String {
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
