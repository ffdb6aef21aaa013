use skep::prelude::*;

#[derive(Service)]
#[service(GET "/search")]
struct Search {
    #[form]
    query: String,
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
