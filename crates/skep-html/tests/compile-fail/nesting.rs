//! What the standard does not allow, in one template.

fn main() {
    skep_html::html! { ul { p { "One" } } p { div {} } secton { "Two" } };
}
