use skep::html;

fn main() {
    let _ = html! {
        if true { "a" }
        else { "b" }
        for x in [1] { (x) }
    };
}
