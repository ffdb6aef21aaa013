use skep::html;
use skep::html::{Flow, Html, NoHeader, NoHeading};
use skep::piece;

fn title() -> Html {
    html! { h2 { "Title" } }
}

fn top() -> Html<Flow, NoHeader> {
    piece! { div { header { "Top" } } }
}

fn cell() -> Html<Flow, NoHeading> {
    piece! { section { "Cell" } }
}

fn main() {
    let _ = html! {
        table { tr { th { (title()) } } }
        dl { dt { (title()) } dd { "x" } }
        address { (title()) }
        header { (title()) }
        footer { form { (title()) } }
    };
    let _ = (top(), cell());
}
