//! What statements of a component may do: with tables, indexes, views and triggers of its own database anything; beyond
//! them nothing.
//!
//! SQLite itself trusts those who write statements: they open any file of the process's user (`attach`, `vacuum into`),
//! change how the connection and the whole process work (most pragmas), and leave things behind on the connection that
//! the next request gets (temporary tables). A host cannot trust them: <https://sqlite.org/security.html>. `vacuum`
//! attaches a file, too, and is refused. Those for PostgreSQL are judged in `postgres/guests.rs`.
//!
//! Start reading at [`restrict`].

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Result};

/// The most bytes of a statement.
pub(super) const LONGEST_STATEMENT: usize = 1 << 20;

/// The most bytes of an answer, and of the values of a statement: they are in the host's memory at once.
pub(super) const MOST_BYTES: usize = 32 << 20;

/// What is said of more.
pub(super) const TOO_LARGE: &str = "the rows have more than 32 MiB: give the statement a `limit`, or fewer columns";

/// A verb, as a component names it: a number of `wit/skep.wit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerbNumber {
    All,
    First,
    One,
    Execute,
}

/// What a statement may cost that is within its rights. Depths and the pattern bound the stack: SQLite recurses over
/// them, and a short read runs on the stack of the guest's own call.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_LENGTH, 16 << 20),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 100),
];

/// Pragmas that only read, and what SQLite's own modules (full text, R-trees) ask.
const PRAGMAS: &[&str] = &[
    "collation_list",
    "compile_options",
    "data_version",
    "foreign_key_check",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "module_list",
    "page_count",
    "pragma_list",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Those that read without a value, and would change something with one.
const WITHOUT_VALUE: &[&str] =
    &["application_id", "encoding", "foreign_keys", "page_size", "schema_version", "user_version"];

/// Makes the connection safe for statements of others. What they may do, [`may`] says, once it is set.
pub(super) fn restrict(connection: &Connection) -> Result<()> {
    for (limit, most) in LIMITS {
        connection.set_limit(*limit, *most)?;
    }
    // No writing to the tables that full text and the schema itself are kept in.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A view or a trigger calls nothing that does more than compute.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // What a sort needs beyond the cache is on the disk, not in our memory.
    connection.execute_batch("pragma temp_store = file")
}

/// What SQLite asks of each step of a statement that it prepares.
pub(super) fn may(context: AuthContext<'_>) -> Authorization {
    let is_temporary = context.database_name.is_some_and(|name| name.eq_ignore_ascii_case("temp"));
    let is = |list: &[&str], name: &str| list.iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_refused = match context.action {
        AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. }
        | AuthAction::Unknown { .. } => true,
        // `create table temp.name` is to SQLite no temporary table, but one of the database `temp`; and whatever is
        // made is a row there.
        AuthAction::CreateIndex { .. }
        | AuthAction::CreateTable { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateVtable { .. }
        | AuthAction::Insert { .. } => is_temporary,
        AuthAction::Function { function_name } => function_name.eq_ignore_ascii_case("load_extension"),
        AuthAction::Pragma { pragma_name, pragma_value } => {
            !(is(PRAGMAS, pragma_name) || pragma_value.is_none() && is(WITHOUT_VALUE, pragma_name))
        }
        _ => false,
    };
    if is_refused { Authorization::Deny } else { Authorization::Allow }
}
