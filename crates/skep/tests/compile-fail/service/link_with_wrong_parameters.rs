use skep::prelude::*;

#[derive(Service)]
#[service(GET "/writings/{page}")]
struct Article {
    page: Slug,
}

impl Handle for Article {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {
    let _ = html! {
        a href=(Article { page: 7 }) { "wrong" }
        a href=(Article {}) { "missing" }
        a href=(Article { page: Slug::of("a"), part: 2 }) { "extra" }
        a href=(Artcle { page: Slug::of("a") }) { "misspelt" }
    };
}
