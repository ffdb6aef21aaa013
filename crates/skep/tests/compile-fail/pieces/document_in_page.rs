use skep::html;
use skep::html::{DOCTYPE, Document, Html};

fn page() -> Html<Document> {
    html! { (DOCTYPE) html lang="en" { head { title { "Page" } } body {} } }
}

fn main() {
    let _ = html! {
        main { (page()) }
    };
    let _ = html! {
        html lang="en" { head { title { "Page" } (page()) } body { (DOCTYPE) } (page()) }
    };
    let _ = html! { (DOCTYPE) p { "Hello" } };
    let _ = html! { (page()) html lang="en" { head { title { "Page" } } body {} } "text" };
}
