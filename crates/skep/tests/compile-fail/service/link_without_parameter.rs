use skep::prelude::*;

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    page: Slug,
    tag: Option<String>,
}

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {
    let _ = Article { page: Slug::of("a") }.url();
}
