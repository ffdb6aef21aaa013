use skep::prelude::*;

#[derive(Service)]
#[service(external GET "/search")]
struct Relative;

#[derive(Service)]
#[service(external GET "https:///search")]
struct Nowhere;

#[derive(Service)]
#[service(external GET "https://{host}/search")]
struct Anywhere {
    host: String,
}

#[derive(Service)]
#[service(external GET "https://example.org/", body = 7)]
struct Limited;

#[derive(Service)]
#[service(external POST "https://example.org/")]
struct Api {
    #[json]
    order: Vec<u8>,
}

#[derive(Service)]
#[service(external "https://example.org/")]
struct NoMethod;

fn main() {}
