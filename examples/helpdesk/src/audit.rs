//! The audit trail: who changed what, and when. A layer writes it, so that no handler can forget it.

use skep::layer::Next;
use skep::prelude::*;
use skep::sql::Row;

use crate::layout::{moment, page, pager};
use crate::texts::texts;
use crate::user::Admin;

/// The layer around all services: notes each change in the transaction of the change, so that both are kept or neither. What was refused
/// changed nothing: it is an error, or a form that is shown again.
pub async fn record(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    let action = next.route().to_owned();
    let response = next.run(cx).await?;
    if !cx.method().is_safe() && !response.status().is_client_error() {
        let (user, path) = (cx.user().map(str::to_owned), cx.uri().path());
        let insert = sql!("insert into audit (user, action, path) values (?, ?, ?)", user, action, path);
        cx.transaction().await?.execute(insert).await?;
    }
    Ok(response)
}

/// The audit trail, the newest first.
#[derive(Service)]
#[service(GET "/audit")]
pub struct AuditTrail {
    #[query(default = 1)]
    page: u32,
    #[guard]
    admin: Admin,
}

#[derive(Row)]
struct Entry {
    at: String,
    user: Option<String>,
    action: String,
    path: String,
}

const PER_PAGE: u32 = 50;

impl Handle for AuditTrail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let skip = self.page.checked_sub(1).or_404()?.saturating_mul(PER_PAGE);
        let select = sql!(
            Entry,
            "select at, user, action, path from audit order by id desc limit ? offset ?",
            PER_PAGE + 1,
            skip
        );
        let entries = cx.db().all(select).await?;
        let has_more = entries.len() > PER_PAGE as usize;
        let content = html! {
            h1 { (t.audit_trail) }
            table {
                thead { tr { th scope="col" { (t.at) } th scope="col" { (t.email) } th scope="col" { (t.action) } th scope="col" { (t.path) } } }
                tbody {
                    @for entry in entries.iter().take(PER_PAGE as usize) {
                        tr {
                            td { (moment(&entry.at)) }
                            td { (entry.user.as_deref().unwrap_or("–")) }
                            td { (entry.action) }
                            td { code { (entry.path) } }
                        }
                    }
                }
            }
            (pager(t, self.page, has_more, |page| AuditTrail::link().page(page)))
        };
        Ok(page(cx, &self.admin, t.audit_trail, &content))
    }
}
