//! The Rust of the article `forms-that-work-without-javascript`.

use skep::form::{Text, Whole};
use skep::prelude::*;
use skep::sql::query;

#[derive(Service)]
#[service(GET "/party")]
struct Invitation;

#[derive(Service)]
#[service(POST "/party", body = 4_096, page = Invitation)]
struct Reply {
    #[form]
    name: Text<1, 80>,
    #[form]
    guests: Whole<0, 5>,
}

fn page(content: &Html) -> Response {
    Response::html(html! { main { (content) } })
}

impl Handle for Invitation {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(page(&html! {
            form (Reply::form(cx)) {
                label (Reply::name) { "Your name" }
                input (Reply::name) autocomplete="name";
                label (Reply::guests) { "How many do you bring?" }
                input (Reply::guests);
                button { "Send" }
            }
        }))
    }
}

impl Handle for Reply {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert = query("insert into reply (name, guests) values (?, ?)", (self.name.as_str(), self.guests.get()));
        cx.db().execute(insert).await?;
        Ok(Response::see_other(Invitation))
    }
}

#[test]
fn a_faulty_reply_is_shown_again() {
    let client = skep::test::Client::new(App::new().serve(services![Invitation, Reply]));
    let answer = client.post("/party", &[("name", "Ann"), ("guests", "7")]);
    assert_eq!(answer.status(), 422);
    assert!(answer.text().contains("Ann"));
}
