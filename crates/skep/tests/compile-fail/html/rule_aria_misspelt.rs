use skep::html;

fn main() {
    let _ = html! {
        p aria-labeledby="a" { "b" }
    };
}
