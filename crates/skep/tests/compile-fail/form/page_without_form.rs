use skep::prelude::*;

#[derive(Service)]
#[service(POST "/like/{page}", page = Like { page })]
struct Like {
    page: Slug,
}

impl Handle for Like {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
