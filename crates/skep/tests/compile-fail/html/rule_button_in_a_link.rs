use skep::html;

fn main() {
    let _ = html! {
        a href="/" { button { "go" } }
    };
}
