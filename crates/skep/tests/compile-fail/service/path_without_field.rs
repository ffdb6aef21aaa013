use skep::prelude::*;

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    slug: Slug,
}

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
