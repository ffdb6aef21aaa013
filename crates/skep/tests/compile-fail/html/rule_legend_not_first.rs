use skep::html;

fn main() {
    let _ = html! {
        fieldset { p { "a" } legend { "b" } }
    };
}
