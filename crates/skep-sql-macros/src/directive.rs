//! What migrations say in comments: `-- skep: token is scoped by user_id`.
//!
//! Start reading at [`Scopes::follow`].

use std::collections::BTreeMap;

use rusqlite::Connection;
use skep_sql_lock::scope::{self, Directive};

use crate::text;

/// By which column the rows of a table are scoped. Names in lower case.
#[derive(Default)]
pub(crate) struct Scopes(pub(crate) BTreeMap<String, String>);

impl Scopes {
    /// Follows what a migration says that has just run.
    ///
    /// # Errors
    /// It says something of a table or column which is not there, or a scope would be lost in silence: a text for the developer.
    pub(crate) fn follow(&mut self, connection: &Connection, migration: &str) -> Result<(), String> {
        for directive in directives(migration)? {
            match directive {
                Directive::NotScoped { table } => {
                    let table = folded(table);
                    self.0.remove(&table).ok_or_else(|| scope::not_scoped_before(&table))?;
                }
                Directive::Scoped { table, column } => {
                    let (table, column) = (folded(table), folded(column));
                    if !has_column(connection, &table, &column)? {
                        return Err(scope::no_column(&table, &column));
                    }
                    self.0.insert(table, column);
                }
            }
        }
        for (table, column) in &self.0 {
            if !has_column(connection, table, column)? {
                return Err(scope::lost(table, column));
            }
        }
        Ok(())
    }
}

fn has_column(connection: &Connection, table: &str, column: &str) -> Result<bool, String> {
    let sql = "select 1 from pragma_table_list list, pragma_table_xinfo(list.name) info
        where list.schema = 'main' and list.type = 'table' and lower(list.name) = ? and lower(info.name) = ?";
    let mut statement = connection.prepare(sql).map_err(|error| error.to_string())?;
    statement.exists([table, column]).map_err(|error| error.to_string())
}

fn directives(migration: &str) -> Result<Vec<Directive<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = migration;
    while let Some(first) = rest.chars().next() {
        let taken = text::quoted(rest).unwrap_or(first.len_utf8());
        let part = &rest[..taken];
        let comment = part
            .strip_prefix("--")
            .or_else(|| part.strip_prefix("/*").map(|inner| inner.strip_suffix("*/").unwrap_or(inner)));
        if let Some(directive) = comment.and_then(Directive::of) {
            found.push(directive?);
        }
        rest = &rest[taken..];
    }
    Ok(found)
}

fn folded(name: &str) -> String {
    name.trim_matches(['"', '`', '[', ']']).to_ascii_lowercase()
}

#[cfg(test)]
#[path = "../tests/unit/directive.rs"]
mod tests;
