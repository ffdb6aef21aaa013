use skep::html;

fn main() {
    let _ = html! {
        figcaption { "a" }
    };
}
