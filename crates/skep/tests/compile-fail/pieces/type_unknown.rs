use skep::piece;

fn main() {
    let unused = piece! { b { "x" } };
}
