//! What migrations say of types that SQLite does not have: `-- skep: course.starts is timestamp`.
//!
//! Start reading at [`Types::follow`].

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;
use skep_sql_lock::directive::at_line;
use skep_sql_lock::{ColumnType, Directive};

use crate::infer::{Kind, Type};
use crate::schema::Table;

/// By table and column, in lower case.
#[derive(Default)]
pub(crate) struct Types(BTreeMap<(String, String), ColumnType>);

impl Types {
    /// Follows what a migration says that has just run. What it took away has no type any more.
    ///
    /// # Errors
    /// There is no such column, or it is stored as something else: a text for the developer.
    pub(crate) fn follow(&mut self, connection: &Connection, said: &[(usize, Directive<'_>)]) -> Result<(), String> {
        for (line, directive) in said {
            let Directive::Typed { table, column, ty } = directive else { continue };
            let name = (table.to_ascii_lowercase(), column.to_ascii_lowercase());
            match stored(connection, &name)? {
                Some(stored) if stored.eq_ignore_ascii_case(ty.stored_as()) => self.0.insert(name, *ty),
                Some(stored) => {
                    let help = format!("`{column}` is `{stored}`, and a `{ty}` is stored as `{}`", ty.stored_as());
                    return Err(at_line(*line, &help));
                }
                None => return Err(at_line(*line, &format!("there is no column `{column}` of a table `{table}`"))),
            };
        }
        let mut lost = Vec::new();
        for name in self.0.keys() {
            if stored(connection, name)?.is_none() {
                lost.push(name.clone());
            }
        }
        self.0.retain(|name, _| !lost.contains(name));
        Ok(())
    }

    /// Gives the columns their types.
    pub(crate) fn apply(&self, tables: &mut HashMap<String, Table>) {
        for ((table, column), ty) in &self.0 {
            let table = tables.get_mut(table).into_iter().flat_map(|table| &mut table.columns);
            for column in table.filter(|known| known.name.eq_ignore_ascii_case(column)) {
                let (kind, boolean) = kind(*ty);
                column.ty = Type { kind, boolean, ..column.ty };
            }
        }
    }
}

/// Its kind, and whether it is 0 or 1.
fn kind(ty: ColumnType) -> (Kind, bool) {
    let kind = match ty {
        ColumnType::Boolean => return (Kind::Integer, true),
        ColumnType::Date => Kind::Date,
        ColumnType::Time => Kind::Time,
        ColumnType::DateTime => Kind::DateTime,
        ColumnType::Timestamp => Kind::Timestamp,
        ColumnType::Decimal { digits, places } => Kind::Fixed { digits, places },
        ColumnType::Json => Kind::Json,
    };
    (kind, false)
}

/// The type that the table says.
fn stored(connection: &Connection, (table, column): &(String, String)) -> Result<Option<String>, String> {
    let sql = "select info.type from pragma_table_list list, pragma_table_xinfo(list.name) info
        where list.schema = 'main' and list.type = 'table' and lower(list.name) = ? and lower(info.name) = ?";
    let mut statement = connection.prepare_cached(sql).map_err(|error| error.to_string())?;
    let mut rows = statement.query([table, column]).map_err(|error| error.to_string())?;
    let row = rows.next().map_err(|error| error.to_string())?;
    row.map(|row| row.get(0)).transpose().map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "../tests/unit/typed.rs"]
mod tests;
