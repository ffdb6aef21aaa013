use skep::html;

fn main() {
    let _ = html! {
        head { title { "a" } title { "b" } }
    };
}
