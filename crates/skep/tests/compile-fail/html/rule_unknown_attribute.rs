use skep::html;

fn main() {
    let _ = html! {
        p clas="a" { "b" }
    };
}
