use skep::html;

fn main() {
    let _ = html! {
        center { "a" }
    };
}
