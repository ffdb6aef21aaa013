use skep::prelude::*;

struct Plain;

fn main() {
    let _ = App::new().serve(services![Plain]);
}
