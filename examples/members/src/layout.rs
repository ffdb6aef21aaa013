//! What all pages have in common.

use skep::error_page::Failure;
use skep::guard::Guard;
use skep::html::{Document, Flow, NoHeader};
use skep::prelude::*;
use skep_people::Maybe;
use skep_people::pages::{ChangePasswordPage, SignInPage, SignOut};

use crate::Static;
use crate::account::Account;
use crate::note::Notes;

/// The name of the application, for people.
const NAME: &str = "Members";

/// A page for somebody who is signed in, with the messages that the last request left.
pub(crate) fn page(cx: &mut Cx<'_>, title: &str, content: &Html) -> Response {
    let account = piece! {
        form (SignOut::form(cx)) {
            a href=(ChangePasswordPage) { "Password" }
            " "
            button { "Sign out" }
        }
    };
    with_messages(cx, title, &account, content)
}

/// A page of the account: for who is signed in, and for who is about to be.
pub(crate) async fn account_page(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
    let is_signed_in = Maybe::<Account>::check(cx).await?.is_some();
    Ok(if is_signed_in {
        page(cx, title, content)
    } else {
        with_messages(cx, title, &entrance(), content)
    })
}

fn with_messages(
    cx: &mut Cx<'_>,
    title: &str,
    account: &Html<Flow, NoHeader>,
    content: &Html,
) -> Response {
    let content = html! {
        @for message in cx.flashes() { p role="status" { (message) } }
        h1 { (title) }
        (content)
    };
    Response::html(document(title, account, &content))
}

/// Error pages look like all others.
pub(crate) fn error_page(failure: &Failure) -> Html<Document> {
    let content = html! {
        h1 { (failure.title()) }
        p { (failure.message()) }
        @if let Some(detail) = failure.detail() { pre { (detail) } }
        p.hint { "Error " (failure.status().as_u16()) ", known to our log as " code { (failure.id()) } "." }
    };
    document(failure.title(), &entrance(), &content)
}

/// What the header has for who is not signed in.
fn entrance() -> Html<Flow, NoHeader> {
    piece! { a href=(SignInPage::link()) { "Sign in" } }
}

fn document(title: &str, account: &Html<Flow, NoHeader>, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (NAME) }
                link rel="stylesheet" href=(Static::STYLE_CSS);
                link rel="icon" href=(Static::ICON_SVG) type="image/svg+xml";
            }
            body {
                header {
                    a.name href=(Notes { at: None }) { (NAME) }
                    nav {
                        a href=(Notes { at: None }) { "Notes" }
                    }
                    div.account { (account) }
                }
                main { (content) }
            }
        }
    }
}
