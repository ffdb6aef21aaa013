use skep::html;

fn main() {
    let _ = html! {
        button { span tabindex="0" { "a" } }
    };
}
