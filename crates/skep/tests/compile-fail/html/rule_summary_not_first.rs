use skep::html;

fn main() {
    let _ = html! {
        details { p { "a" } summary { "b" } }
    };
}
