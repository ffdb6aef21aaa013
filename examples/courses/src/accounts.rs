//! Accounts, for admins.

use skep::Site;
use skep::prelude::*;
use skep::sql::{Cursor, Row};
use skep_language::prelude::*;
use skep_people::Allowed;

use crate::account::{Admin, Role};
use crate::layout::{page, pager};

/// All accounts.
#[derive(Service)]
#[service(GET "/accounts", guard = Allowed<Admin>)]
pub struct Accounts {
    at: Option<Cursor<(String, i64)>>,
}

/// Gives an account another role, which counts from the next request on.
#[derive(Service)]
#[service(POST "/accounts/{id}")]
pub struct Appoint {
    id: i64,
    #[guard]
    admin: Allowed<Admin>,
    #[form]
    role: Role,
}

/// Makes accounts admins, by their addresses: the first one there is.
pub(crate) fn appoint(site: &Site, addresses: &[String]) -> Result<()> {
    for email in addresses {
        site.db().write(|db| db.execute(sql!("update account set role = 'admin' where email = ?", email)))?;
    }
    Ok(())
}

#[derive(Row)]
struct Account {
    id: i64,
    name: String,
    email: String,
    role: Role,
}

impl Handle for Accounts {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = sql!(Account, "select {columns of Account} from account order by name, id" {keyset 50: self.at});
        let accounts = cx.db().page(select).await?;
        let content = html! {
            h1 { (t!(cx, accounts)) }
            @for account in &accounts { (appointment(cx, account)) }
            (pager(cx, &accounts, |at| Accounts::link().at(Some(at))))
        };
        page(cx, t!(cx, accounts), &content).await
    }
}

fn appointment(cx: &Cx<'_>, account: &Account) -> Html {
    let form = Appoint::form(cx, account.id).prefixed(format!("account{}", account.id));
    let form = form.value(Appoint::role, &account.role);
    html! {
        form.line (form) {
            span { strong { (account.name) } " " span.meta { (account.email) } }
            select (Appoint::role) aria-label=(t!(cx, role));
            button.quiet { (t!(cx, save)) }
        }
    }
}

impl Handle for Appoint {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.id == self.admin.id {
            // The last admin would be locked out.
            return Err(Error::conflict(t!(cx, not_yourself)));
        }
        let update = sql!("update account set role = ? where id = ?", &self.role, self.id);
        (cx.db().execute(update).await?.rows == 1).then_some(()).or_404()?;
        cx.flash(t!(cx, saved));
        Ok(Response::see_other(Accounts::link()))
    }
}
