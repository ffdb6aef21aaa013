//! All boards.

use skep::form::Text;
use skep::prelude::*;

use crate::board::Board;
use crate::layout::page;
use crate::person::Person;

/// The list of boards, and the form for a new one.
#[derive(Service)]
#[service(GET "/")]
pub struct Boards {
    #[guard]
    person: Person,
}

impl Handle for Boards {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let boards = cx.db().all(sql!((i64, String), "select id, title from board order by id desc limit 50")).await?;
        let content = html! {
            h1 { "Hello " (self.person.name) }
            ul.boards { @for (id, title) in &boards { li { a href=(Board::link(*id)) data-live="" { (title) } } } }
            form.narrow (Create::form(cx)) {
                label (Create::title) { "A new board" }
                input (Create::title);
                button { "Create" }
            }
        };
        Ok(page("Boards", &content))
    }
}

/// Makes a board.
#[derive(Service)]
#[service(POST "/", page = Boards::link())]
pub struct Create {
    #[guard]
    _person: Person,
    #[form]
    title: Text<1, 80>,
}

impl Handle for Create {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let made = cx.db().execute(sql!("insert into board (title) values (?)", &self.title)).await?;
        Ok(Response::see_other(Board::link(made.last_insert_id)))
    }
}
