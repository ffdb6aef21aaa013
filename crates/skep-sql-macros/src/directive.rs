//! What migrations say of scopes: `-- skep: token is scoped by user_id`.
//!
//! Start reading at [`Scopes::follow`].

use std::collections::BTreeMap;

use rusqlite::Connection;
use skep_sql_lock::directive::at_line;
use skep_sql_lock::{Directive, scope};

/// By which column the rows of a table are scoped. Names in lower case.
#[derive(Default)]
pub(crate) struct Scopes(pub(crate) BTreeMap<String, String>);

impl Scopes {
    /// Follows what a migration says that has just run; each directive with its line.
    ///
    /// # Errors
    /// It says something of a table or column which is not there, or a scope would be lost in silence: a text for the
    /// developer.
    pub(crate) fn follow(&mut self, connection: &Connection, said: &[(usize, Directive<'_>)]) -> Result<(), String> {
        for (line, directive) in said {
            self.follow_one(connection, directive).map_err(|help| at_line(*line, &help))?;
        }
        for (table, column) in &self.0 {
            if !has_column(connection, table, column)? {
                return Err(scope::lost(table, column));
            }
        }
        Ok(())
    }

    fn follow_one(&mut self, connection: &Connection, directive: &Directive<'_>) -> Result<(), String> {
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
            // Followed before the migration runs, which may call them.
            Directive::Function(_) | Directive::DropFunction { .. } | Directive::Typed { .. } => {}
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

fn folded(name: &str) -> String {
    name.trim_matches(['"', '`', '[', ']']).to_ascii_lowercase()
}

#[cfg(test)]
#[path = "../tests/unit/directive.rs"]
mod tests;
