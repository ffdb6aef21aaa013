use skep::html;

fn main() {
    let _ = html! {
        div href="/" { "a" }
    };
}
