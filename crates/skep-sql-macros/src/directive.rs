//! What migrations say in comments: `-- skep: token is scoped by user_id`.
//!
//! Start reading at [`Scopes::follow`].

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::text;

const FORMS: &str = "expected `skep: TABLE is scoped by COLUMN` or `skep: TABLE is not scoped`";

/// By which column the rows of a table are scoped. Names in lower case.
#[derive(Default)]
pub(crate) struct Scopes(pub(crate) BTreeMap<String, String>);

enum Directive {
    Scoped { table: String, column: String },
    NotScoped { table: String },
}

impl Scopes {
    /// Follows what a migration says that has just run.
    ///
    /// # Errors
    /// It says something of a table or column which is not there, or a scope would be lost in silence: a text for the developer.
    pub(crate) fn follow(&mut self, connection: &Connection, migration: &str) -> Result<(), String> {
        for directive in directives(migration)? {
            match directive {
                Directive::NotScoped { table } => {
                    self.0.remove(&table).ok_or_else(|| format!("`{table}` was not scoped before"))?;
                }
                Directive::Scoped { table, column } => {
                    if !has_column(connection, &table, &column)? {
                        return Err(format!("`{table} is scoped by {column}`: there is no such column of a table"));
                    }
                    self.0.insert(table, column);
                }
            }
        }
        for (table, column) in &self.0 {
            if !has_column(connection, table, column)? {
                return Err(format!(
                    "`{table}` is scoped by `{column}`, and this migration takes that column away; say what holds now: \
                     `-- skep: {table} is not scoped`, and for a new name `-- skep: NAME is scoped by COLUMN`"
                ));
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

fn directives(migration: &str) -> Result<Vec<Directive>, String> {
    let mut found = Vec::new();
    let mut rest = migration;
    while let Some(first) = rest.chars().next() {
        let taken = text::quoted(rest).unwrap_or(first.len_utf8());
        let part = &rest[..taken];
        let comment = part
            .strip_prefix("--")
            .or_else(|| part.strip_prefix("/*").map(|inner| inner.strip_suffix("*/").unwrap_or(inner)));
        if let Some(said) = comment.and_then(|comment| comment.trim().strip_prefix("skep:")) {
            found.push(directive(said)?);
        }
        rest = &rest[taken..];
    }
    Ok(found)
}

fn directive(said: &str) -> Result<Directive, String> {
    let name = |name: &str| name.trim_matches(['"', '`', '[', ']']).to_ascii_lowercase();
    let words: Vec<&str> = said.split_whitespace().collect();
    match words.as_slice() {
        [table, "is", "scoped", "by", column] => Ok(Directive::Scoped { table: name(table), column: name(column) }),
        [table, "is", "not", "scoped"] => Ok(Directive::NotScoped { table: name(table) }),
        _ => Err(format!("`skep:{said}`: {FORMS}")),
    }
}

#[cfg(test)]
#[path = "../tests/unit/directive.rs"]
mod tests;
