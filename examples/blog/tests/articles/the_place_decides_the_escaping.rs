//! The Rust of the article `the-place-decides-the-escaping`.

use skep::html::Html;
use skep::prelude::*;

fn card(name: &str, homepage: &str, biography: &str) -> Html {
    html! {
        section.card {
            h2 { (name) }
            p title=(name) { (biography) }
            a href=(homepage) { "Their own page" }
        }
    }
}

fn team(cards: &[Html]) -> Html {
    html! {
        h1 { "The team" }
        @for card in cards {
            (card)
        }
    }
}

fn trusted(rendered: String) -> Html {
let body = Html::trusted(rendered);
body
}

#[test]
fn each_place_has_its_escaping() {
    let html = card("Jo & \"Sam\"", "javascript:alert(1)", "<script>");
    assert!(!html.as_str().contains("javascript:") && !html.as_str().contains("<script>"), "{}", html.as_str());
}
