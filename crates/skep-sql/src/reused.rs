//! Keys that SQLite gives out again: without `autoincrement`, the number of the newest row that was deleted is that of
//! the next row.
//!
//! What outlives a row and names it by its number (a session, a sealed link, a passkey on its user's device) means
//! another row then.

use skep_sql_lock::text::{Piece, pieces};

use crate::database::Database;
use crate::error::Result;
use crate::query::query;

/// Tables with such a key that others refer to, or that have passwords: accounts, and whom rows belong to. Of SQLite's
/// own functions: a key that is the number of the row, and is not drawn by `autoincrement`.
const TABLES: &str = r#"
select list.name, schema.sql
from pragma_table_list list
join sqlite_schema schema on schema.type = 'table' and schema.name = list.name
join pragma_table_info(list.name) key on key.pk = 1 and upper(key.type) = 'INTEGER'
where list.schema = 'main' and list.type = 'table' and list.wr = 0 and list.name not like 'skep\_%' escape '\'
    and (select count(*) from pragma_table_info(list.name) where pk > 0) = 1
    and (
        exists (
            select 1 from pragma_table_list other, pragma_foreign_key_list(other.name) refers
            where other.schema = 'main' and other.type = 'table' and other.name <> list.name
                and lower(refers."table") = lower(list.name)
                and (refers."to" is null or lower(refers."to") = lower(key.name))
        )
        or exists (select 1 from pragma_table_info(list.name) where lower(name) like '%password%')
    )
order by 1"#;

impl Database {
    /// Those of this database, none on PostgreSQL: a line for each, for people.
    #[doc(hidden)]
    pub fn reused_keys(&self) -> Result<Vec<String>> {
        if !self.is_sqlite() {
            return Ok(Vec::new());
        }
        let tables = self.write(|db| db.all::<(String, String)>(query(TABLES, ())))?;
        let reused = tables.into_iter().filter(|(_, sql)| !has_autoincrement(sql));
        Ok(reused.map(|(table, _)| describe(&table)).collect())
    }
}

fn has_autoincrement(sql: &str) -> bool {
    pieces(sql).any(|piece| matches!(piece, Piece::Word(word) if word.eq_ignore_ascii_case("autoincrement")))
}

fn describe(table: &str) -> String {
    format!(
        "table {table}: its key is an `integer primary key` without `autoincrement`, so SQLite gives the number of a \
         deleted row to a new one, and with it what still names that number: sessions, sealed links, passkeys, rows \
         that refer to it; a migration that makes a new table with `integer primary key autoincrement` ends that"
    )
}

#[cfg(test)]
#[path = "../tests/unit/reused.rs"]
mod tests;
