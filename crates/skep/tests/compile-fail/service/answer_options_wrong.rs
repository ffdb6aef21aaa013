use skep::prelude::*;

#[derive(Service)]
#[service(GET "/", status = 201)]
struct StatusOfAPage;

#[derive(Service)]
#[service(GET "/", answers = u32, status = 404)]
struct StatusOfAnError;

#[derive(Service)]
#[service(GET "/", api = "yes")]
struct NoTruthValue;

#[derive(Service)]
#[service(external GET "https://example.org/", answers = u32)]
struct OfAnother;

fn main() {}
