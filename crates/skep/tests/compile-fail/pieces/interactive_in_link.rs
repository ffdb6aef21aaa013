use skep::html;
use skep::html::{Flow, Html, NoInteractive, Phrasing};
use skep::piece;

fn name() -> Html<Phrasing> {
    piece! { b { "Ann" } }
}

fn card() -> Html {
    html! { article { h2 { "Ann" } } }
}

fn badge() -> Html<Phrasing, NoInteractive> {
    piece! { span { a href="/" { "1" } } }
}

fn menu() -> Html<Flow, NoInteractive> {
    piece! { nav { button { "Menu" } input type="text"; } }
}

fn main() {
    let _ = html! {
        p { a href="/" { (name()) } }
        button { (name()) }
        button { (card()) }
        a href="/" { article { (card()) } }
    };
    let _ = (badge(), menu());
}
