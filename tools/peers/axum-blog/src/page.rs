//! The list page as HTML, through askama.

use askama::Template;

use crate::store::{List, Row};

#[derive(Template)]
#[template(path = "list.html")]
struct Page<'a> {
    articles: &'a [Row],
    count: i64,
    number: i64,
    pages: i64,
}

/// The first page of the list.
pub(crate) fn render(list: &List) -> askama::Result<String> {
    let per_page = i64::try_from(articles::PER_PAGE).expect("a page is small");
    let pages = (list.count + per_page - 1) / per_page;
    Page { articles: &list.articles, count: list.count, number: 1, pages }.render()
}
