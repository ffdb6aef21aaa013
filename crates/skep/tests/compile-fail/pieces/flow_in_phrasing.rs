use skep::html;
use skep::html::Html;

fn comment() -> Html {
    html! { p { "Fine." } }
}

fn main() {
    let comment = comment();
    let _ = html! {
        p { (comment) }
        h2 { "About " (&comment) }
        p { em { @if true { (comment) } } }
        details { summary { (comment) } }
        select { option { (comment) } }
    };
}
