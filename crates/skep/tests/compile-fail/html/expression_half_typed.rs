use skep::html;

fn main() {
    let title = String::new();
    let _ = html! {
        @if title. { p { "a" } }
        p { "b" }
    };
}
