use skep::html;

fn main() {
    let _ = html! {
        p id="a" { "b" } p id="a" { "c" }
    };
}
