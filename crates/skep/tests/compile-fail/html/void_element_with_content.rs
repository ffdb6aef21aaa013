use skep::html;

fn main() {
    let _ = html! {
        br { }
        input type="text" { "x" }
    };
}
