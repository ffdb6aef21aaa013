use skep::html;

fn main() {
    let _ = html! {
        svg { p { "a" } }
    };
}
