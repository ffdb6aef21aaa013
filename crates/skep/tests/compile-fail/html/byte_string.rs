use skep::html;

fn main() {
    let _ = html! {
        p { b"bytes" }
    };
}
