use skep::html;

fn main() {
    let _ = html! {
        label { "a" label { "b" } }
    };
}
