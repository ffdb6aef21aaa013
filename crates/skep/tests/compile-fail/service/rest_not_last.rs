use skep::prelude::*;

#[derive(Service)]
#[service(GET "/{*rest}/{page}")]
struct Article {
    rest: String,
    page: Slug,
}

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
