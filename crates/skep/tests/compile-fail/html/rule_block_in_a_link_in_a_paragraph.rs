use skep::html;

fn main() {
    let _ = html! {
        p { a href="/" { div { "a" } } }
    };
}
