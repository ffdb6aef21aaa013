//! Who somebody is: a name that they give themselves, in their session.

use serde::{Deserialize, Serialize};
use skep::form::{Hidden, Text};
use skep::guard::Guard;
use skep::prelude::*;
use skep::session::Key;

use crate::board::Board;
use crate::boards::Boards;
use crate::layout::page;

const PERSON: Key<Person> = Key::new("person");

/// Somebody who has a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Person {
    /// The same in all windows of a browser.
    pub id: String,
    /// As others see it.
    pub name: String,
}

impl Guard for Person {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let Some(person) = cx.session().get(&PERSON).await? else {
            // Who follows a link to a board comes back to it.
            let board = cx.uri().path().strip_prefix("/boards/").and_then(|board| board.parse().ok());
            return Err(Response::see_other(Introduction { board }).into());
        };
        Ok(person)
    }
}

/// Asks for a name.
#[derive(Service)]
#[service(GET "/name", open = "it is where people get one")]
pub struct Introduction {
    /// Where to go then.
    #[query]
    pub board: Option<i64>,
}

impl Handle for Introduction {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Introduce::form(cx).value(Introduce::board, &self.board.map(Hidden));
        let content = html! {
            h1 { "Who are you?" }
            form.narrow (form) {
                input (Introduce::board);
                label (Introduce::name) { "Your name, as others see it" }
                input (Introduce::name) autocomplete="nickname" autofocus;
                button { "Go on" }
            }
        };
        Ok(page("Who are you?", &content))
    }
}

/// Gives a name.
#[derive(Service)]
#[service(POST "/name", page = Introduction { board: None }, open = "it is where people get one")]
pub struct Introduce {
    #[form]
    board: Option<Hidden<i64>>,
    #[form]
    name: Text<1, 30>,
}

impl Handle for Introduce {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let person = Person { id: cx.id().to_string(), name: self.name.as_str().to_owned() };
        cx.session().set(&PERSON, &person).await?;
        Ok(match self.board {
            Some(Hidden(board)) => Response::see_other(Board::link(board)),
            None => Response::see_other(Boards::link()),
        })
    }
}
