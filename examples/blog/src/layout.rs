//! What all pages have in common.

use skep::SecurityHeaders;
use skep::error_page::Failure;
use skep::html::{Document, NoInteractive, Phrasing};
use skep::prelude::*;
use skep_live::live_script;

use crate::Static;
use crate::archive::Archive;
use crate::desk::Desk;
use crate::feed::{Atom, Rss};
use crate::index::{Index, Tagged};
use crate::search::Search;

/// The name of the blog.
pub const NAME: &str = "The Skep blog";

/// Nothing but our own style sheet and pictures is loaded, and nothing runs but the script that shows new comments.
#[must_use]
pub fn security_headers() -> SecurityHeaders {
    SecurityHeaders::new()
        .directive("default-src", "'none'")
        .directive("script-src", "'self'")
        .directive("connect-src", "'self'")
        .directive("base-uri", "'none'")
}

/// A page of the blog.
#[must_use]
pub fn page(title: &str, content: &Html) -> Response {
    Response::html(document(title, content))
}

/// Error pages look like all others.
#[must_use]
pub fn error_page(failure: &Failure) -> Html<Document> {
    let content = html! {
        h1 { (failure.title()) }
        p { (failure.message()) }
        @if let Some(detail) = failure.detail() {
            pre { (detail) }
        }
        p { a href=(Index { page: 1 }) { "All articles" } " · " a href=(Search { q: None }) { "Search" } }
        p.hint { "Error " (failure.status().as_u16()) ", known to our log as " code { (failure.id()) } "." }
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
                title { (title) @if title != NAME { " – " (NAME) } }
                link rel="stylesheet" href=(Static::STYLE_CSS);
                link rel="icon" href=(Static::FAVICON_SVG) type="image/svg+xml";
                link rel="alternate" type="application/atom+xml" title=(NAME) href=(Atom);
                link rel="alternate" type="application/rss+xml" title=(NAME) href=(Rss);
                (live_script())
            }
            body {
                a.skip href="#content" { "To the content" }
                header {
                    a.brand href=(Index { page: 1 }) { (mark()) (NAME) }
                    nav aria-label="Main" {
                        a href=(Archive) { "Archive" }
                        a href=(Atom) { "Feed" }
                    }
                    form (Search::form().prefixed("top")) role="search" data-live="" {
                        input (Search::q) type="search" aria-label="Search the articles" placeholder="Search";
                    }
                }
                main #content { (content) }
                footer {
                    p { "Served by one executable, written with Skep. Subscribe by "
                        a href=(Atom) { "Atom" } " or " a href=(Rss) { "RSS" } ". "
                        a href=(Desk::link()) { "For authors" } }
                }
            }
        }
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

/// A list of links to tags.
#[must_use]
pub fn tags<'t>(tags: impl Iterator<Item = &'t str>) -> Html {
    html! {
        ul.tags aria-label="Tags" {
            @for tag in tags.filter_map(|tag| tag.parse::<Slug>().ok()) {
                li { a href=(Tagged { tag: tag.clone(), page: 1 }) { (tag) } }
            }
        }
    }
}

/// A day for people, from `2026-11-21`.
#[must_use]
pub fn day(published: &str) -> Html<Phrasing> {
    piece! {
        time datetime=(published) {
            @match in_words(published) {
                Some((day, month, year)) => { (day) " " (month) " " (year) },
                None => (published),
            }
        }
    }
}

fn in_words(published: &str) -> Option<(&str, &'static str, &str)> {
    const MONTHS: &str = "January February March April May June July August September October November December";
    let (year, rest) = published.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let month = MONTHS.split(' ').nth(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    Some((day.trim_start_matches('0'), month, year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_for_people() {
        assert_eq!(day("2026-11-01").as_str(), "<time datetime=\"2026-11-01\">1 November 2026</time>");
        assert_eq!(day("soon").as_str(), "<time datetime=\"soon\">soon</time>");
    }
}
