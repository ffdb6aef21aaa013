use skep::html;

fn main() {
    let _ = html! {
        html { head { title { "a" } } body { label for="name" { "b" } input id="nam"; } }
    };
}
