//! What all pages have in common.

use skep::SecurityHeaders;
use skep::cache::SharedCx;
use skep::error_page::Failure;
use skep::html::{Document, Flow, NoHeader, NoInteractive, Phrasing};
use skep::prelude::*;
use skep::sql::Page;

use crate::Static;
use crate::audit::AuditTrail;
use crate::new_ticket::NewTicket;
use crate::profile::Profile;
use crate::sign_in::{Home, SignInPage, SignOut};
use crate::status_page::StatusPage;
use crate::texts::{Texts, texts};
use crate::ticket_list::TicketList;
use crate::user::{Role, User};
use crate::users::Users;

/// Nothing but our own style sheet, pictures and the script for passkeys is loaded, and that asks nobody but us.
#[must_use]
pub fn security_headers() -> SecurityHeaders {
    SecurityHeaders::new()
        .directive("default-src", "'none'")
        .directive("script-src", "'self'")
        .directive("connect-src", "'self'")
        .directive("base-uri", "'none'")
}

/// A page for somebody who is signed in.
#[must_use]
pub fn page(cx: &Cx<'_>, user: &User, title: &str, content: &Html) -> Response {
    let t = texts(cx.language());
    let content = html! {
        @for text in cx.flashes() { p.notice role="status" { (text) } }
        (content)
    };
    Response::html(document(t, title, &navigation(cx, t, user), &content))
}

/// A page for everybody: a function that takes a [`SharedCx`] can show nothing of a user.
#[must_use]
pub fn open_page(cx: &SharedCx<'_>, title: &str, content: &Html) -> Response {
    let t = texts(cx.language());
    Response::html(document(t, title, &entrance(t), content))
}

/// Error pages look like all others.
#[must_use]
pub fn error_page(failure: &Failure) -> Html<Document> {
    let t = texts(failure.language());
    let (title, explanation) = (t.error)(failure.status());
    let content = html! {
        h1 { (title) }
        p { (failure.own_message().unwrap_or(explanation)) }
        @if let Some(detail) = failure.detail() { pre { (detail) } }
        p { a href=(Home::link()) { (t.to_the_start) } }
        p.hint { (failure.status().as_u16()) " · " code { (failure.id()) } }
    };
    document(t, title, &entrance(t), &content)
}

fn document(t: &Texts, title: &str, navigation: &Html<Flow, NoHeader>, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang=(t.language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (t.helpdesk) }
                link rel="stylesheet" href=(Static::STYLE_CSS);
                link rel="icon" href=(Static::FAVICON_SVG) type="image/svg+xml";
            }
            body {
                a.skip href="#content" { (t.to_the_content) }
                header { div.bar { a.brand href=(Home::link()) { (mark()) (t.helpdesk) } (navigation) } }
                main #content { (content) }
                footer { p { (t.footer) " " a href=(StatusPage) { (t.status_page) } } }
            }
        }
    }
}

fn navigation(cx: &Cx<'_>, t: &Texts, user: &User) -> Html<Flow, NoHeader> {
    piece! {
        nav aria-label=(t.main_menu) {
            a href=(TicketList::link()) { (t.tickets) }
            a href=(NewTicket::link()) { (t.new_ticket) }
            @if user.role == Role::Admin {
                a href=(Users::link()) { (t.users) }
                a href=(AuditTrail::link()) { (t.audit_trail) }
            }
        }
        div.account {
            a href=(Profile::link()) { (user.name) }
            form (SignOut::form(cx)) { button.quiet { (t.sign_out) } }
        }
    }
}

fn entrance(t: &Texts) -> Html<Flow, NoHeader> {
    piece! {
        nav aria-label=(t.main_menu) { a href=(StatusPage) { (t.status_page) } }
        div.account { a href=(SignInPage::link()) { (t.sign_in) } }
    }
}

/// The skep: a straw beehive.
fn mark() -> Html<Phrasing, NoInteractive> {
    piece! {
        svg viewBox="0 0 24 24" aria-hidden="true" {
            path d="M12 2C8.5 2 6.6 4 6 6h12c-.6-2-2.5-4-6-4zM5 7.5h14c.6.9.9 1.9 1 3H4c.1-1.1.4-2.1 1-3zM3.5 12h17c.3 1 .5 2 .5 3H3c0-1 .2-2 .5-3zM3 16.500h5.500a3.6 3.6 0 0 1 7 0H21V19c0 1.7-1.3 3-3 3h-2.500v-4a3.5 3.5 0 0 0-7 0v4H6c-1.7 0-3-1.3-3-3z" {}
        }
    }
}

/// The way to other pages of a list.
pub fn pager<T, At: Clone, L: skep::html::Href>(t: &Texts, page: &Page<T, At>, link: impl Fn(At) -> L) -> Html {
    html! {
        @if page.previous.is_some() || page.next.is_some() {
            nav.pager aria-label=(t.pages) {
                span { @if let Some(at) = &page.previous { a rel="prev" href=(link(at.clone())) { "← " (t.previous) } } }
                span { @if let Some(at) = &page.next { a rel="next" href=(link(at.clone())) { (t.next) " →" } } }
            }
        }
    }
}

/// A moment, such as `2026-11-24T21:05:00Z`.
pub fn moment(at: &str) -> Html<Phrasing, NoInteractive> {
    let (day, time) = at.split_once('T').unwrap_or((at, ""));
    piece! { time datetime=(at) { (day) " " (time.get(..5).unwrap_or_default()) } }
}
