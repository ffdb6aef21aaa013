use skep::html;

fn main() {
    let _ = html! {
        p { p { "a" } }
    };
}
