use skep::prelude::*;

#[derive(Service)]
#[service(GET "/", when = "view=list")]
struct FixedOnGet;

#[derive(Service)]
#[service(POST "/", when = "delete")]
struct NoValue;

#[derive(Service)]
#[service(POST "/", when = "action=delete")]
struct Both {
    action: String,
}

#[derive(Service)]
#[service(POST "/{page}", from_query)]
struct QueryOfPost {
    page: Slug,
}

#[derive(Service)]
#[service(GET "/{page}/print", from_query)]
struct NothingAtTheEnd {
    page: Slug,
}

#[derive(Service)]
#[service(GET "/", perfix = SHOP)]
struct Misspelt;

fn main() {}
