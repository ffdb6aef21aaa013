use skep::html;
use skep::html::{Flow, Html, NoForm, Phrasing};

fn main() {
    let piece = html! { p { "x" } };
    let _: Html<Phrasing> = piece.clone().widen();
    let _: Html<Flow, NoForm> = piece.widen();
}
