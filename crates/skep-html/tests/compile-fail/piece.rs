//! Its type says what a piece may be.

use skep_html::{Html, Phrasing, piece};

fn day(date: &str) -> Html<Phrasing> {
    piece! { div { (date) } }
}

fn main() {
    day("2026-11-30");
}
