use skep::prelude::*;

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    page: Slug,
}

fn main() {}
