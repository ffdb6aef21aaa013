//! Comments of readers, the newest first, to be removed by authors.

use skep::prelude::*;
use skep::sql::Row;
use skep_people::Signed;

use crate::article;
use crate::author::Author;
use crate::desk;
use crate::index::pages;
use crate::layout::{day, page};

/// Comments on a page of the list.
pub const PER_PAGE: u32 = 20;

/// All comments.
#[derive(Service)]
#[service(GET "/desk/comments")]
pub struct Moderation {
    /// Counted from 1.
    #[query(default = 1)]
    page: u32,
    #[guard]
    author: Signed<Author>,
}

#[derive(Row)]
struct Line {
    id: i64,
    slug: Slug,
    author: String,
    html: String,
    written: String,
}

impl Handle for Moderation {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let skip = self.page.checked_sub(1).or_404()?.saturating_mul(PER_PAGE);
        let total = cx.db().one(sql!(u32, "select count(*) from comment")).await?.unwrap_or(0);
        let select = sql!(
            Line,
            "select id, slug, author, html, written from comment order by id desc limit ? offset ?",
            PER_PAGE,
            skip
        );
        let comments = cx.db().all(select).await?;
        let content = html! {
            h1 { "Comments" }
            (desk::menu(cx, &self.author))
            @for comment in &comments { (below(cx, comment)) }
            @if comments.is_empty() { p.notice { "Nothing here yet." } }
            (pages(self.page, total, |page| Moderation::link().page(page)))
        };
        Ok(page("Comments", &content))
    }
}

fn below(cx: &Cx<'_>, comment: &Line) -> Html {
    let article = article::to_comment(comment.slug.clone(), comment.id - 1, comment.id);
    html! {
        article.comment {
            h2.meta { strong { (comment.author) } ", " (day(comment.written.split('T').next().unwrap_or_default())) " · "
                a href=(article) { (comment.slug) } }
            // It was cleaned when it was written.
            (Html::trusted(&comment.html))
            form (Remove::form(cx, comment.id)) { button.quiet { "Remove" } }
        }
    }
}

/// Removes a comment.
#[derive(Service)]
#[service(POST "/desk/comments/{id}/remove")]
pub struct Remove {
    id: i64,
    #[guard]
    _author: Signed<Author>,
}

impl Handle for Remove {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let deleted = cx.transaction().await?.execute(sql!("delete from comment where id = ?", self.id)).await?;
        (deleted.rows == 1).then_some(()).or_404()?;
        cx.flash("The comment is removed.");
        Ok(Response::see_other(Moderation::link()))
    }
}
