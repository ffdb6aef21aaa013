//! What is around each page, and the policy that comes with it.

use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{IntoResponse, Response};
use skep_html::nonce::Scope;
use skep_html::{DOCTYPE, Document, Html, html};

use crate::page::To;

/// A whole page. The content is flow content, which is all that `Html` says.
pub(crate) fn page(title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) }
                style { "body { max-width: 40rem; margin: auto } .wrong { color: #b00 }" }
            }
            body {
                header { a href=(To::List) { "Guest book" } }
                main { h1 { (title) } (content) }
            }
        }
    }
}

/// A browser applies only the styles, and runs only the scripts, that were written into this page: the nonce of the
/// response is in both. So nothing that a visitor gets into a page runs.
pub(crate) fn respond(page: impl FnOnce() -> Html<Document>) -> Response {
    let mut scope = Scope::default();
    let page = scope.enter(page);
    let nonce = scope.nonce().unwrap_or_default();
    let policy = format!("default-src 'self'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'");
    ([(CONTENT_SECURITY_POLICY, policy)], page).into_response()
}
