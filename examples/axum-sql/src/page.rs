//! The HTML of the pages. An application has a library for that; here is as little as there can be.

use axum::response::Html;
use skep_sql::{Page, PageNumber};

use crate::book::Book;

pub(crate) fn list(books: &Page<Book, PageNumber>) -> Html<String> {
    let items = books.iter().map(|book| {
        let Book { id, title, author, copies } = book;
        format!("<li><a href=\"/books/{id}\">{}</a> by {}, {copies} left</li>", escaped(title), escaped(author))
    });
    let link = |to: Option<PageNumber>, text: &str| {
        to.map_or_else(String::new, |to| format!("<a href=\"/?page={}\">{text}</a> ", to.get()))
    };
    let (back, more) = (link(books.previous, "Back"), link(books.next, "More"));
    let form = "<form method=\"post\"><input name=\"title\" required><input name=\"author\" required>\
                <input name=\"copies\" type=\"number\" min=\"0\" required><button>Add</button></form>";
    page(
        "Books",
        &format!("<ul>{}</ul>{back}{more}{form}<a href=\"/export.csv\">Export</a>", items.collect::<String>()),
    )
}

pub(crate) fn book(book: &Book, readers: &[String]) -> Html<String> {
    let Book { id, title, author, copies } = book;
    let readers: Vec<String> = readers.iter().map(|reader| format!("<li>{}</li>", escaped(reader))).collect();
    let form = format!(
        "<form method=\"post\" action=\"/books/{id}/loans\"><input name=\"reader\" required><button>Lend</button></form>"
    );
    page(title, &format!("<p>by {}, {copies} left</p><ul>{}</ul>{form}", escaped(author), readers.concat()))
}

fn page(title: &str, body: &str) -> Html<String> {
    let title = escaped(title);
    Html(format!("<!doctype html><html lang=\"en\"><title>{title}</title><h1>{title}</h1>{body}</html>"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
