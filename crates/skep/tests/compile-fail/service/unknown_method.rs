use skep::prelude::*;

#[derive(Service)]
#[service(FETCH "/search")]
struct Search;

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
