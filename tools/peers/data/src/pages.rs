//! Rows as HTML, through askama.

use askama::Template;

use crate::{Article, Fortune, PER_PAGE};

#[derive(Template)]
#[template(path = "list.html")]
struct List<'a> {
    articles: &'a [Article],
    count: i64,
    pages: i64,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Fortunes<'a> {
    fortunes: &'a [Fortune],
}

/// The first page of the list.
///
/// # Errors
///
/// What askama says.
pub fn list(articles: &[Article], count: i64) -> askama::Result<String> {
    List { articles, count, pages: (count + PER_PAGE - 1) / PER_PAGE }.render()
}

/// These fortunes and one more, by their messages.
///
/// # Errors
///
/// What askama says.
pub fn fortunes(mut fortunes: Vec<Fortune>) -> askama::Result<String> {
    fortunes.push(Fortune { id: 0, message: "Added while the request was handled.".into() });
    fortunes.sort_by(|one, other| one.message.cmp(&other.message));
    Fortunes { fortunes: &fortunes }.render()
}
