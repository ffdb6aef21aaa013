use skep::html;

fn main() {
    let _ = html! {
        figure { p { "a" } figcaption { "b" } p { "c" } }
    };
}
