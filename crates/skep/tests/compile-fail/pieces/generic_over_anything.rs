use skep::html;
use skep::html::{Html, Render};

fn item(value: &impl Render) -> Html {
    html! { p { (value) } }
}

fn boxed<C, H>(content: &Html<C, H>) -> Html {
    html! { div { (content) } }
}

fn main() {
    let _ = (item(&"x"), boxed(&html! {}));
}
