use skep::html;

fn main() {
    let _ = html! {
        li { "a" } p { "b" }
    };
}
