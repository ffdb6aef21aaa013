use skep::form::{MultilineText, Text};
use skep::prelude::*;

#[derive(Service)]
#[service(POST "/comments")]
struct Comment {
    #[form]
    author: Text<1, 80>,
    #[form]
    text: MultilineText<1, 1000>,
    #[form]
    site: Option<String>,
}

impl Handle for Comment {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn fields() -> Html {
    html! {
        input (Comment::author);
    }
}

fn main() {}
