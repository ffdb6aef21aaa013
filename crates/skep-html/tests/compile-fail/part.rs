//! Flow content of another function, in a paragraph.

use skep_html::{Html, html};

fn comment(text: &str) -> Html {
    html! { div { (text) } }
}

fn main() {
    html! { p { (comment("One")) } };
}
