//! A page that knows its visitor from the second request on.

use skep::prelude::*;
use skep::session::Key;

const NAME: Key<String> = Key::new("name");

#[derive(Service)]
#[service(GET "/session")]
pub(crate) struct Home;

impl Handle for Home {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let name = cx.session().get(&NAME).await?;
        if name.is_none() {
            cx.session().set(&NAME, &"Anna".to_owned()).await?;
        }
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { "Home" } }
                body {
                    @if let Some(name) = &name { h1 { "Welcome back, " (name) } } @else { h1 { "Welcome" } }
                    p { "What is new since your last visit, and what you have not read yet." }
                }
            }
        }))
    }
}
