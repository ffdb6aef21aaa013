//! Comments: the form, the preview, what is refused, and what is kept.

use skep::form::{MultilineText, Text};
use skep::header::RETRY_AFTER;
use skep::prelude::*;

use crate::article::{self, Article};
use crate::markdown;
use crate::settings::Blog;

/// A comment on an article. Its longest text fits into its body: each of 10 000 UTF-16 code units is at most three
/// bytes, and a form spells a byte with three.
#[derive(Service)]
#[service(POST "/writings/{page}/comments", body = 131_072, page = Article::link(page))]
pub struct Comment {
    page: Slug,
    #[form]
    author: Text<1, 80>,
    #[form]
    text: MultilineText<1, 10_000>,
    #[form]
    preview: Option<String>,
}

impl Handle for Comment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.preview.is_some() {
            let preview = html! { p.meta { strong { (self.author) } } (markdown::comment(&self.text)) };
            return article::show(cx, &self.page, None, Some(preview)).await;
        }
        let (problem, status, wait) = match self.keep(cx).await {
            Ok(Stored::First) => return Ok(Response::see_other(Article::link(self.page).at("comments"))),
            Ok(Stored::Behind(other, id)) => return Ok(Response::see_other(article::to_comment(self.page, other, id))),
            Ok(Stored::TooMany) => (TOO_MANY, StatusCode::TOO_MANY_REQUESTS, window_seconds(cx)),
            // The disk is full, or somebody else holds the database: what was typed must not be lost with it.
            Err(error) if error.status() == StatusCode::SERVICE_UNAVAILABLE => {
                tracing::error!(target: "blog", id = %cx.id(), "a comment could not be kept: {error}");
                (NOT_NOW, StatusCode::SERVICE_UNAVAILABLE, TRY_AGAIN_SECONDS)
            }
            Err(error) => return Err(error),
        };
        Err(Comment::text.refuse(problem).with_status(status).with_header(RETRY_AFTER, wait.into()))
    }
}

const TOO_MANY: &str = "You have written a lot in a short time. Please wait some minutes, then send this again.";
const NOT_NOW: &str = "This cannot be kept at the moment, through no fault of yours. Please send it again in a while.";
const TRY_AGAIN_SECONDS: i64 = 30;

/// As `article::comments` has them.
const PER_PAGE: u32 = 50;

fn window_seconds(cx: &Cx<'_>) -> i64 {
    i64::try_from(cx.settings::<Blog>().comment_window.as_secs()).unwrap_or(i64::MAX)
}

/// Whether a comment was kept.
enum Stored {
    /// On the first page of comments.
    First,
    /// Behind this one, which the last page begins after; and its own number.
    Behind(i64, i64),
    /// Its author's address has sent too many lately.
    TooMany,
}

impl Comment {
    /// Keeps it, unless its author's address has sent too many lately.
    async fn keep(&self, cx: &Cx<'_>) -> Result<Stored> {
        let address = cx.peer().address.map_or_else(|| "local".into(), |address| address.ip().to_string());
        let db = cx.db().transaction().await?;
        db.one(sql!(i64, "select id from article where slug = ?", &self.page)).await?.or_404()?;
        db.execute(sql!("delete from recent_author where at <= unixepoch() - ?", window_seconds(cx))).await?;
        let count = sql!(i64, "select count(*) from recent_author where address = ?", &address);
        if db.one(count).await?.unwrap_or(0) >= cx.settings::<Blog>().max_comments.into() {
            return Ok(Stored::TooMany);
        }
        db.execute(sql!("insert into recent_author (address) values (?)", &address)).await?;
        let html = markdown::comment(&self.text);
        let insert = sql!(
            i64,
            "insert into comment (slug, author, html) values (?, ?, ?) returning id",
            &self.page,
            &self.author,
            html.as_str()
        );
        let id = db.one(insert).await?;
        let before_last_page =
            sql!(i64, "select id from comment where slug = ? order by id desc limit 1 offset ?", &self.page, PER_PAGE);
        let other = db.one(before_last_page).await?;
        // Kept before the answer is made: a disk that is full says so here.
        db.commit().await?;
        Ok(other.zip(id).map_or(Stored::First, |(other, id)| Stored::Behind(other, id)))
    }
}

/// The form below an article, and the comment as it would look.
pub fn form(cx: &Cx<'_>, page: &Slug, preview: Option<Html>) -> Html {
    html! {
        @if let Some(preview) = preview {
            // Focus scrolls the page to it.
            h3 #preview tabindex="-1" autofocus { "Preview" }
            div.preview { (preview) }
        }
        h3 #write { "Write a comment" }
        form (Comment::form(cx, page.clone())) {
            label (Comment::author) { "Name" }
            input (Comment::author) autocomplete="name";
            label (Comment::text) { "Comment" }
            textarea (Comment::text) aria-describedby="text-hint";
            p.hint #text-hint { "Markdown: " code { "*emphasis*" } ", " code { "`code`" } ", " code { "> quotation" } ", lists and links." }
            div.buttons {
                button { "Send" }
                button.quiet (Comment::preview) value="yes" { "Preview" }
            }
        }
    }
}
