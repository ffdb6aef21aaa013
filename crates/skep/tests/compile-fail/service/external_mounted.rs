use skep::prelude::*;

#[derive(Service)]
#[service(external GET "https://example.org/search")]
struct Search {
    q: String,
}

fn main() {
    let _ = App::new().serve(services![Search]);
}
