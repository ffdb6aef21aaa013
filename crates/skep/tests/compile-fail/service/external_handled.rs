use skep::prelude::*;

#[derive(Service)]
#[service(external GET "https://example.org/search")]
struct Search {
    q: String,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
