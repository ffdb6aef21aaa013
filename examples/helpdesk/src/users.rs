//! Accounts, for administrators.

use skep::prelude::*;
use skep::sql::{Cursor, Row};

use crate::layout::{page, pager};
use crate::texts::{Texts, texts};
use crate::user::{Admin, Role};

/// All accounts.
#[derive(Service)]
#[service(GET "/users")]
pub struct Users {
    /// The first page without it.
    #[query]
    at: Option<Cursor<(String, i64)>>,
    #[guard]
    admin: Admin,
}

#[derive(Row)]
struct Line {
    id: i64,
    email: String,
    name: String,
    role: Role,
    locked: bool,
}

impl Handle for Users {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let select =
            sql!(Line, "select id, email, name, role, locked from user order by name, id" {keyset 25: self.at});
        let lines = cx.db().page(select).await?;
        let content = html! {
            h1 { (t.users) }
            @for line in &lines { (below(cx, line, t)) }
            (pager(t, &lines, |at| Users::link().at(at)))
        };
        Ok(page(cx, &self.admin, t.users, &content))
    }
}

fn below(cx: &Cx<'_>, line: &Line, t: &Texts) -> Html {
    let form = ChangeUser::form(cx, line.id)
        .prefixed(format!("user{}", line.id))
        .value(ChangeUser::role, &line.role)
        .value(ChangeUser::locked, &line.locked);
    html! {
        form.line (form) {
            span { strong { (line.name) } " " span.meta { (line.email) } }
            select (ChangeUser::role) aria-label=(t.role);
            label.tick (ChangeUser::locked) { input (ChangeUser::locked); " " (t.locked) }
            button.quiet { (t.save) }
        }
    }
}

/// Gives an account another role, locks it or unlocks it. It counts from the next request on: the account is read for
/// each. What was signed
/// in before a lock stays out after it, as do tokens.
#[derive(Service)]
#[service(POST "/users/{id}")]
pub struct ChangeUser {
    id: i64,
    #[guard]
    admin: Admin,
    #[form]
    role: Role,
    #[form]
    locked: bool,
}

impl Handle for ChangeUser {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        if self.id == self.admin.id {
            // The last administrator would be locked out.
            return Err(Error::conflict(t.not_yourself));
        }
        let db = cx.transaction().await?;
        let update = sql!("update user set role = ?, locked = ? where id = ?", &self.role, self.locked, self.id);
        let changed = db.execute(update).await?.rows;
        if self.locked {
            db.execute(sql!("update user set stamp = hex(randomblob(16)) where id = ?", self.id)).await?;
        }
        (changed == 1).then_some(()).or_404()?;
        cx.flash(t.saved);
        Ok(Response::see_other(Users::link()))
    }
}
