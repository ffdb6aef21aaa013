//! A link that runs code.

fn main() {
    skep_html::html! { a href="javascript:alert(1)" { "One" } };
}
