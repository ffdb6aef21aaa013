use skep::html;
use skep::html::{Html, Phrasing, Rows};

fn day() -> Html<Phrasing> {
    html! { time { "2026" } }
}

fn page() -> Html {
    html! { html lang="en" { head { title { "Page" } } body {} } }
}

fn main() {
    let row: Html<Rows> = html! { tr { td { "1" } } };
    let _ = html! { tr { td { "1" } } p { "2" } };
    let _ = html! { li { "1" } (row) };
    let _ = html! { (row) };
    let _ = (day(), page());
}
