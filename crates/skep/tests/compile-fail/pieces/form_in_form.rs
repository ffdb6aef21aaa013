use skep::html;
use skep::html::{Html, NoForm, Items};
use skep::piece;

fn search() -> Html {
    html! { form {} }
}

fn items() -> Html<Items> {
    html! { li { form {} } }
}

fn promised() -> Html<skep::html::Flow, NoForm> {
    piece! { div { form {} } }
}

fn passed_on() -> Html<skep::html::Flow, NoForm> {
    piece! { div { (search()) } }
}

fn main() {
    let _ = html! {
        form { (search()) }
        form { div { ul { (items()) } } }
    };
    let _ = (promised(), passed_on());
}
