//! What all pages have in common.

use skep::error_page::Failure;
use skep::html::Document;
use skep::prelude::*;
use skep_live::live_script;

use crate::Static;
use crate::boards::Boards;

/// A page.
#[must_use]
pub fn page(title: &str, content: &Html) -> Response {
    Response::html(document(title, content))
}

/// Error pages look like all others; a form that is sent in place shows what is in `main`.
#[must_use]
pub fn error_page(failure: &Failure) -> Html<Document> {
    let content = html! {
        h1 { (failure.title()) }
        p { (failure.message()) }
        @if let Some(detail) = failure.detail() { pre { (detail) } }
    };
    document(failure.title(), &content)
}

fn document(title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href=(Static::BOARD_CSS);
                link rel="icon" href=(Static::FAVICON_SVG) type="image/svg+xml";
                (live_script())
                script src=(Static::DRAG_JS) defer {}
            }
            body {
                // Links with `data-live` are followed in place.
                header { a href=(Boards::link()) data-live="" { "Boards" } }
                main { (content) }
            }
        }
    }
}
