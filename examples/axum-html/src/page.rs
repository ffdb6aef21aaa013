//! The HTML of each page, from functions that return parts of it.

use std::fmt::Write as _;

use skep_html::{Buffer, Destination, Document, Href, Html, Items, Phrasing, html, piece};

use crate::book::{Entry, NewEntry, Wrong};
use crate::layout;

/// The pages, so that a link is a value: one that leads nowhere does not compile.
#[derive(Clone, Copy)]
pub(crate) enum To {
    List,
    Entry(usize),
}

impl Destination for To {
    fn write_url(&self, out: &mut String) {
        let _ = match self {
            Self::List => out.write_char('/'),
            Self::Entry(number) => write!(out, "/entries/{number}"),
        };
    }
}

impl Href for To {
    fn write_href(&self, out: &mut Buffer) {
        out.push_encoded(|url| self.write_url(url));
    }
}

/// The id of an entry in the list.
pub(crate) fn anchor(number: usize) -> String {
    format!("entry-{number}")
}

pub(crate) fn list(entries: &[Entry], typed: &NewEntry, wrong: Option<Wrong>) -> Html<Document> {
    let content = html! {
        @if entries.is_empty() {
            p { "Nobody has written yet." }
        } @else {
            ul { @for entry in entries { (item(entry)) } }
        }
        (form(typed, wrong))
    };
    layout::page("Entries", &content)
}

/// It stands in `ul` and `ol`: anywhere else it does not compile.
fn item(entry: &Entry) -> Html<Items> {
    html! {
        li #(anchor(entry.number)) {
            (author(entry)) ": " a href=(To::Entry(entry.number)) { (entry.text.lines().next().unwrap_or_default()) }
        }
    }
}

/// It stands in a line of text, so that a `p` takes it. A website that would run code becomes `about:invalid`.
fn author(entry: &Entry) -> Html<Phrasing> {
    piece! {
        @match &entry.website {
            Some(website) => a rel="nofollow ugc" href=(website) { (entry.name) },
            None => (entry.name),
        }
    }
}

fn form(typed: &NewEntry, wrong: Option<Wrong>) -> Html {
    html! {
        form method="post" action=(To::List) {
            p {
                label for="name" { "Name" } " "
                input #name name="name" required value=(typed.name);
                (message(wrong == Some(Wrong::Name), "Write your name"))
            }
            p {
                label for="website" { "Website" } " "
                input #website name="website" type="url" value=(typed.website);
            }
            p {
                label for="text" { "Text" } " "
                textarea #text name="text" required { (typed.text) }
                (message(wrong == Some(Wrong::Text), "Write something"))
            }
            button { "Sign" }
        }
    }
}

fn message(is_shown: bool, text: &str) -> Html<Phrasing> {
    piece! { @if is_shown { strong.wrong role="alert" { (text) } } }
}

pub(crate) fn entry(entry: &Entry) -> Html<Document> {
    let content = html! {
        p { "By " (author(entry)) }
        @for line in entry.text.lines() { p { (line) } }
    };
    layout::page(&format!("Entry {}", entry.number), &content)
}

pub(crate) fn not_found() -> Html<Document> {
    layout::page("No such page", &html! { p { a href=(To::List) { "All entries" } } })
}
