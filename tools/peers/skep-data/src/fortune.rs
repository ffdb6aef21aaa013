//! A table of texts, as a page.

use skep::prelude::*;
use skep::sql::Row;

/// All rows and one more, by their texts.
#[derive(Service)]
#[service(GET "/fortunes")]
pub(crate) struct Fortunes;

#[derive(Row)]
struct Fortune {
    id: i32,
    message: String,
}

impl Handle for Fortunes {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut fortunes = cx.db().all::<Fortune>("select id, message from fortune").await?;
        fortunes.push(Fortune { id: 0, message: "Added while the request was handled.".into() });
        fortunes.sort_by(|one, other| one.message.cmp(&other.message));
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { "Fortunes" } }
                body {
                    table {
                        tr { th { "id" } th { "message" } }
                        @for fortune in &fortunes {
                            tr { td { (fortune.id) } td { (fortune.message) } }
                        }
                    }
                }
            }
        }))
    }
}
