use skep::{html, piece};

fn main() {
    let _ = html! { p { (piece! { b { "x" } }) } };
    let unused = piece! { b { "x" } };
}
