//! What a statement reads and writes, as SQLite's authorizer reports it while the statement is prepared.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use skep_units::lock;

/// Tables and columns, and what was refused.
#[derive(Clone, Default)]
pub(crate) struct Access {
    pub(crate) reads: BTreeSet<(String, String)>,
    pub(crate) writes: BTreeSet<(String, String)>,
    /// What does not belong into a statement of an application, and where it does.
    pub(crate) refused: Option<&'static str>,
}

/// Notes in `access` what each statement does that is prepared from now on.
pub(crate) fn observe(connection: &mut Connection, access: Arc<Mutex<Access>>) -> rusqlite::Result<()> {
    connection.authorizer(Some(move |context: AuthContext<'_>| note(&mut lock(&access), &context)))
}

fn note(access: &mut Access, context: &AuthContext<'_>) -> Authorization {
    let pair = |table: &str, column: &str| (table.to_owned(), column.to_owned());
    let refused = match context.action {
        AuthAction::Read { table_name, column_name } => {
            access.reads.insert(pair(table_name, column_name));
            return Authorization::Allow;
        }
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name } => {
            access.writes.insert(pair(table_name, ""));
            return Authorization::Allow;
        }
        AuthAction::Update { table_name, column_name } => {
            access.writes.insert(pair(table_name, column_name));
            return Authorization::Allow;
        }
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => {
            "`load_extension` runs foreign code"
        }
        AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => return Authorization::Allow,
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => {
            "`attach` and `detach` change the connection, which other requests share"
        }
        AuthAction::Pragma { .. } => {
            "a pragma changes the connection, which other requests share; see `skep::sql::Options`"
        }
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => {
            "a transaction is begun with `cx.transaction()` or `db.transaction()`, and ended by its handle"
        }
        _ => "a statement that changes the schema belongs into a migration",
    };
    access.refused = Some(refused);
    Authorization::Deny
}
