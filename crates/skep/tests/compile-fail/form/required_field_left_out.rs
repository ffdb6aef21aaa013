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

fn page(cx: &Cx<'_>) -> Html {
    html! {
        form (Comment::form(cx)) {
            label (Comment::author) { "Name" }
            input (Comment::author);
            button { "Send" }
        }
    }
}

fn without_a_body(cx: &Cx<'_>) -> Html {
    html! { form (Comment::form(cx)); }
}

fn main() {}
