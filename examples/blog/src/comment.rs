//! Comments: the form, the preview, what is refused, and what is kept.

use skep::header::{HeaderValue, RETRY_AFTER};
use skep::prelude::*;
use skep::sql::query;

use crate::article::{self, Article};
use crate::markdown;

/// A comment on an article. Its longest text fits into its body: of 10 000 characters each has up to four bytes, and
/// a form spells a byte with three.
#[derive(Service)]
#[service(POST "/writings/{page}/comments", body = 131_072)]
pub struct Comment {
    page: Slug,
    #[form]
    author: Option<String>,
    #[form]
    text: Option<String>,
    #[form]
    preview: Option<String>,
}

/// What somebody has typed so far, and what is wrong with it.
#[derive(Default)]
pub struct Draft {
    author: String,
    text: String,
    /// As it would look.
    preview: Option<Html>,
    author_problem: Option<&'static str>,
    text_problem: Option<&'static str>,
}

const MAX_AUTHOR: usize = 80;
/// In a form a character is up to twelve bytes; [`Comment`] has room for as many of them.
const MAX_TEXT: usize = 10_000;

/// So many comments from one address in [`WITHIN_SECONDS`]; more are asked to wait.
const MOST: i64 = 5;
const WITHIN_SECONDS: i64 = 600;

impl Draft {
    fn new(author: Option<String>, text: Option<String>) -> Self {
        let author = author.unwrap_or_default().trim().to_owned();
        // Browsers send two characters for the end of a line, and count one.
        let text = text.unwrap_or_default().trim().replace("\r\n", "\n");
        let author_problem = match author.chars().count() {
            0 => Some("Please give a name; any will do."),
            1..=MAX_AUTHOR if author.chars().any(char::is_control) => {
                Some("A name has no line breaks or control characters.")
            }
            1..=MAX_AUTHOR => None,
            _ => Some("That name is too long: 80 characters at most."),
        };
        let text_problem = match text.chars().count() {
            0 => Some("There is nothing written here yet."),
            1..=MAX_TEXT => None,
            _ => Some("That is too long: 10 000 characters at most."),
        };
        Self { author, text, preview: None, author_problem, text_problem }
    }

    fn is_good(&self) -> bool {
        self.author_problem.is_none() && self.text_problem.is_none()
    }
}

impl Handle for Comment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut draft = Draft::new(self.author, self.text);
        if !draft.is_good() {
            let page = article::show(cx.db(), &self.page, &draft).await?;
            return Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY));
        }
        if self.preview.is_some() {
            draft.preview = Some(markdown::comment(&draft.text));
            return article::show(cx.db(), &self.page, &draft).await;
        }
        let (problem, status, wait) = match keep(cx, &self.page, &draft).await {
            Ok(Kept::Yes) => return Ok(Response::see_other(Article { page: self.page }.at("comments"))),
            Ok(Kept::TooMany) => (TOO_MANY, StatusCode::TOO_MANY_REQUESTS, WITHIN_SECONDS),
            // The disk is full, or somebody else holds the database: what was typed must not be lost with it.
            Err(error) if error.status() == StatusCode::SERVICE_UNAVAILABLE => {
                tracing::error!(target: "blog", id = %cx.id(), "a comment could not be kept: {error}");
                (NOT_NOW, StatusCode::SERVICE_UNAVAILABLE, TRY_AGAIN_SECONDS)
            }
            Err(error) => return Err(error),
        };
        draft.text_problem = Some(problem);
        let page = article::show(cx.db(), &self.page, &draft).await?;
        Ok(page.with_status(status).with_header(RETRY_AFTER, HeaderValue::from(wait)))
    }
}

const TOO_MANY: &str = "You have written a lot in a short time. Please wait some minutes, then send this again.";
const NOT_NOW: &str = "This cannot be kept at the moment, through no fault of yours. Please send it again in a while.";
const TRY_AGAIN_SECONDS: i64 = 30;

/// Whether a comment was kept.
enum Kept {
    Yes,
    /// Its author's address has sent too many lately.
    TooMany,
}

/// Keeps a comment, unless its author's address has sent too many lately.
async fn keep(cx: &Cx<'_>, page: &Slug, draft: &Draft) -> Result<Kept> {
    let address = cx.peer().address.map_or_else(|| "local".into(), |address| address.ip().to_string());
    let mut db = cx.db().transaction().await?;
    db.one::<i64>(query("select id from article where slug = ?", page)).await?.or_404()?;
    db.execute(query("delete from recent_author where at <= unixepoch() - ?", WITHIN_SECONDS)).await?;
    let count = query("select count(*) from recent_author where address = ?", &address);
    if db.one::<i64>(count).await?.unwrap_or(0) >= MOST {
        return Ok(Kept::TooMany);
    }
    db.execute(query("insert into recent_author (address) values (?)", &address)).await?;
    let html = markdown::comment(&draft.text);
    let comment =
        query("insert into comment (slug, author, html) values (?, ?, ?)", (page, &draft.author, html.as_str()));
    db.execute(comment).await?;
    // Kept before the answer is made: a disk that is full says so here.
    db.commit().await?;
    Ok(Kept::Yes)
}

/// The form below an article, with what was typed and what is wrong with it.
pub fn form(page: &Slug, draft: &Draft) -> Html {
    html! {
        @if let Some(preview) = &draft.preview {
            // Focus scrolls the page to it.
            h3 #preview tabindex="-1" autofocus { "Preview" }
            div.preview { p.meta { strong { (draft.author) } } (preview) }
        }
        h3 #write { "Write a comment" }
        form (Comment::form(page.clone())) {
            label for="author" { "Name" }
            input #author name="author" required maxlength=(MAX_AUTHOR) autocomplete="name" value=(draft.author)
                autofocus[draft.author_problem.is_some()] aria-invalid=[invalid(draft.author_problem)]
                aria-describedby=[draft.author_problem.map(|_| "author-problem")];
            (problem("author-problem", draft.author_problem))
            label for="text" { "Comment" }
            textarea #text name="text" required maxlength=(MAX_TEXT)
                autofocus[draft.author_problem.is_none() && draft.text_problem.is_some()]
                aria-invalid=[invalid(draft.text_problem)]
                aria-describedby=(if draft.text_problem.is_some() { "text-problem text-hint" } else { "text-hint" }) {
                (draft.text)
            }
            (problem("text-problem", draft.text_problem))
            p.hint #text-hint { "Markdown: " code { "*emphasis*" } ", " code { "`code`" } ", " code { "> quotation" } ", lists and links." }
            div.buttons {
                button { "Send" }
                button.quiet name="preview" value="yes" { "Preview" }
            }
        }
    }
}

fn invalid(problem: Option<&str>) -> Option<&'static str> {
    problem.map(|_| "true")
}

fn problem(id: &str, problem: Option<&str>) -> Html {
    html! {
        @if let Some(problem) = problem {
            p.problem id=(id) { (problem) }
        }
    }
}
