use skep::html;

fn main() {
    let _ = html! {
        ul { "first" li { "second" } }
    };
}
