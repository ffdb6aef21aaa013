//! The one place where a failure becomes an answer.
//!
//! Whatever goes wrong, from a broken request line to a panic in a handler, the client gets the same page: as HTML or,
//! for programs, as `application/problem+json` (RFC 9457), with an id that is also in the log. The insides are in the
//! log only, and in development on the page as well, for a client on the same machine.

use std::borrow::Cow;

use http::header::{ACCEPT, CACHE_CONTROL};
use http::{HeaderValue, StatusCode};

use crate::error::Error;
use crate::ext::ErrorExt as _;
use crate::fields::list::weighted;
use crate::request::{Fields, RequestId};
use crate::response::Response;
use crate::validation::{ErrorDetail, Messages};
use skep_html::{DOCTYPE, Document, Html, Trusted};

/// What an error page may show: everything in here is meant for the client.
///
/// ```
/// use skep::error_page::Failure;
/// use skep::html::Document;
/// use skep::prelude::*;
///
/// fn page(failure: &Failure) -> Html<Document> {
///     html! { (DOCTYPE) html lang="en" { head { title { "Sorry" } } body { h1 { (failure.title()) } } } }
/// }
///
/// let app = App::new().error_page(page);
/// let answer = skep::test::Client::new(app).get("/nowhere");
/// assert!(answer.text().contains("<h1>Not Found</h1>"));
/// ```
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    title: Cow<'static, str>,
    message: Option<String>,
    explanation: Cow<'static, str>,
    id: RequestId,
    detail: Option<String>,
    language: &'static str,
    to_first_page: &'static str,
    user: Option<String>,
    details: Vec<ErrorDetail>,
}

impl Failure {
    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The status in words, such as `Not Found`, in the language of the reader.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What there is to say beyond the status.
    #[must_use]
    pub fn message(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.explanation)
    }

    /// What the application said of it, without the explanation that each status has: for pages that explain in their
    /// own words.
    #[must_use]
    pub fn own_message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The id that the log knows this failure by.
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The language that the reader prefers of `App::languages`: for the `lang` of the page
    /// and its texts.
    #[must_use]
    pub fn language(&self) -> &'static str {
        self.language
    }

    /// The user, if a guard of the request named one: `Cx::set_user`. For a page with the usual
    /// navigation.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The whole error with its causes; only in development, and for a client on the same machine.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

extension! {
    /// What a framework does with a failure.
    pub trait FailureExt for Failure {
        /// What the page for this error says; if the reader may know it, also why it failed.
        fn new(error: &Error, id: RequestId, with_cause: bool) -> Self {
            let (title, explanation) = (Messages::ENGLISH.error)(error.status().as_u16());
            Self {
                status: error.status(),
                title,
                message: error.message().map(ToOwned::to_owned),
                explanation,
                id,
                detail: with_cause.then(|| error.to_string()),
                language: Messages::ENGLISH.language,
                to_first_page: Messages::ENGLISH.to_first_page,
                user: None,
                details: error.details().to_vec(),
            }
        }

        /// The same for this reader.
        #[must_use]
        fn for_reader(self, error: &Error, messages: &Messages, user: Option<&str>) -> Self {
            let (message, details) = error.told(messages);
            let (title, explanation) = (messages.error)(self.status.as_u16());
            let (language, to_first_page) = (messages.language, messages.to_first_page);
            let user = user.map(str::to_owned);
            Self { title, message, explanation, language, to_first_page, user, details, ..self }
        }
    }
}

/// A function that draws error pages: `App::error_page`.
pub type ErrorPage = fn(&Failure) -> Html<Document>;

/// The answer to a failure.
pub fn render(failure: &Failure, error: &Error, in_json: bool, page: ErrorPage) -> Response {
    let mut response = if in_json { problem(failure) } else { Response::html(page(failure)) };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(error.headers().clone());
    response.with_status(failure.status)
}

/// RFC 9457. Without a `type` the status says what kind of problem it is; `id` and `cause` are members of our own, and
/// `errors` is the one of the RFC's example, with the name of a form's field where there is no JSON to point into.
fn problem(failure: &Failure) -> Response {
    let mut body = serde_json::json!({
        "title": failure.title(),
        "status": failure.status.as_u16(),
        "detail": failure.message(),
        "id": failure.id.to_string(),
    });
    if !failure.details.is_empty() {
        body["errors"] = failure.details.iter().map(entry).collect();
    }
    if let Some(cause) = &failure.detail {
        body["cause"] = cause.as_str().into();
    }
    Response::with_content_type(PROBLEM_JSON, body.to_string())
}

fn entry(wrong: &ErrorDetail) -> serde_json::Value {
    match wrong {
        ErrorDetail::Field(name, text) if name.is_empty() => serde_json::json!({ "detail": text }),
        ErrorDetail::Field(name, text) => serde_json::json!({ "detail": text, "field": name }),
        ErrorDetail::Value(pointer, text) => serde_json::json!({ "detail": text, "pointer": fragment(pointer) }),
    }
}

/// A JSON Pointer as the fragment of a URI (RFC 6901, 6).
fn fragment(pointer: &str) -> String {
    let mut text = "#".to_owned();
    skep_html::write_fragment(&mut text, format_args!("{pointer}"));
    text
}

/// The media type of RFC 9457.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// What a client wants an error to look like (RFC 9110, 12.5.1): what it says it likes better, and otherwise what it
/// came to hear, which is JSON if what it asked `speaks_json`.
pub fn wants_json(headers: &Fields, speaks_json: bool) -> bool {
    let (mut json, mut html) = (0, 0);
    for (kind, quality) in weighted(headers, &ACCEPT) {
        let kind = kind.to_ascii_lowercase();
        if kind == "application/json" || kind.ends_with("+json") {
            json = json.max(quality);
        } else if kind == "text/html" || kind == "application/xhtml+xml" {
            html = html.max(quality);
        }
    }
    json > html || (speaks_json && json >= html)
}

/// The page that is shown where the application has none of its own.
pub fn default_page(failure: &Failure) -> Html<Document> {
    skep_html::html! {
        (DOCTYPE)
        html lang=(failure.language) dir="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (failure.status.as_u16()) " " (failure.title()) }
                style { (Trusted(STYLE)) }
            }
            body {
                main {
                    h1 { (failure.title()) }
                    p { (failure.message()) }
                    @if let Some(detail) = failure.detail() {
                        pre { (detail) }
                    }
                    p { a href="/" { (failure.to_first_page) } }
                    footer { (failure.status.as_u16()) " · " (failure.id) }
                }
            }
        }
    }
}

const STYLE: &str = ":root{color-scheme:light dark;font:1.1em/1.6 system-ui,sans-serif}\
body{display:grid;min-height:90vh;place-items:center;margin:1rem}main{max-width:36rem}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:1rem;border:1px solid;border-radius:.5rem}\
footer{opacity:.6;font-size:.8em}";
