use skep::html;

fn main() {
    let _ = html! {
        dl { dt { "a" } }
    };
}
