use skep::prelude::*;

#[derive(Service)]
#[service(GET "writings")]
struct Article;

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
