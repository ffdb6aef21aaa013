//! The audit trail: who changed what, and when. A layer writes it, so that no handler can forget it.

use skep::layer::Next;
use skep::prelude::*;
use skep::sql::{Cursor, Row};
use skep_people::without_tokens;

use crate::layout::{moment, page, pager};
use crate::texts::texts;
use crate::user::Admin;

/// The layer around all services: notes each change in the transaction of the change, so that both are kept or neither.
/// What was refused changed nothing: it is an error, or a form that is shown again.
pub async fn record(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    let action = next.route().to_owned();
    let response = next.run(cx).await?;
    if !cx.method().is_safe() && !response.status().is_client_error() {
        let (user, path) = (cx.user().map(str::to_owned), without_tokens(cx.uri().path()));
        let insert = sql!("insert into audit (user, action, path) values (?, ?, ?)", user, action, path);
        cx.transaction().await?.execute(insert).await?;
    }
    Ok(response)
}

/// The audit trail, the newest first.
#[derive(Service)]
#[service(GET "/audit")]
pub struct AuditTrail {
    /// The first page without it.
    #[query]
    at: Option<Cursor<i64>>,
    #[guard]
    admin: Admin,
}

#[derive(Row)]
struct Entry {
    id: i64,
    at: String,
    user: Option<String>,
    action: String,
    path: String,
}

impl Handle for AuditTrail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let select = sql!(Entry, "select id, at, user, action, path from audit order by id desc" {keyset 50: self.at});
        let entries = cx.db().page(select).await?;
        let content = html! {
            h1 { (t.audit_trail) }
            // Wider than a small screen: it scrolls in a box of its own, which keys reach.
            div.wide role="region" aria-label=(t.audit_trail) tabindex="0" {
                table {
                    thead { tr { th scope="col" { (t.at) } th scope="col" { (t.email) } th scope="col" { (t.action) } th scope="col" { (t.path) } } }
                    tbody {
                        @for entry in &entries {
                            tr {
                                td { (moment(&entry.at)) }
                                td { (entry.user.as_deref().unwrap_or("–")) }
                                td { (entry.action) }
                                td { code { (entry.path) } }
                            }
                        }
                    }
                }
            }
            (pager(t, &entries, |at| AuditTrail::link().at(at)))
        };
        Ok(page(cx, &self.admin, t.audit_trail, &content))
    }
}
