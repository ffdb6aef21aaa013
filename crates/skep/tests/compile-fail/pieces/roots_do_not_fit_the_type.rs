use skep::html::{Document, Html, Items, Phrasing, Rows};
use skep::piece;

fn day() -> Html<Phrasing> {
    piece! { div { "2026" } }
}

fn link() -> Html<Phrasing> {
    piece! { a href="/" { h2 { "Home" } } }
}

fn rows() -> Html<Rows> {
    piece! { tr { td { "1" } } td { "2" } "text" }
}

fn items(text: &str, more: &Html<Rows>) -> Html<Items> {
    piece! { (text) @if text.is_empty() { (more) } li { "x" } }
}

fn page() -> Html<Document> {
    piece! { p { "Hello" } }
}

fn main() {
    let _ = (day(), link(), rows(), items("", &rows()), page());
}
