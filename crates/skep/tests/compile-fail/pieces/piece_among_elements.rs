use skep::html;
use skep::html::{Html, Items, Rows};

fn row() -> Html<Rows> {
    html! { tr { td { "1" } } }
}

fn item() -> Html<Items> {
    html! { li { "1" } }
}

fn main() {
    let _ = html! {
        div { (row()) }
        ul { (row()) }
        table { tr { (row()) } (item()) }
        section { p { (item()) } }
        select { (html! { p { "x" } }) }
    };
}
