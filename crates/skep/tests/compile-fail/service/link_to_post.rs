use skep::prelude::*;

#[derive(Service)]
#[service(POST "/writings/{page}/comments")]
struct Comment {
    page: Slug,
}

impl Handle for Comment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let page = Slug::of("a");
        let _ = html! { a href=(Comment { page: page.clone() }) { "Comment" } };
        let _ = Comment { page: page.clone() }.at("top");
        let _ = cx.absolute(Comment { page: page.clone() });
        Ok(Response::see_other(Comment { page }))
    }
}

fn main() {}
