use skep::html;

fn main() {
    let _ = html! {
        p align="center" { "a" }
    };
}
