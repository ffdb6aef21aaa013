//! What migrations say of types that SQLite does not have: `-- skep: course.starts is timestamp`.
//!
//! Start reading at [`Types::follow`].

mod alter;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row};
use skep_sql_lock::directive::at_line;
use skep_sql_lock::{ColumnType, Directive};

use crate::infer::{Kind, Type};
use crate::schema::Table;
use crate::stored;

/// By table and column, in lower case.
#[derive(Default)]
pub(crate) struct Types(BTreeMap<(String, String), ColumnType>);

impl Types {
    /// Follows what a migration says that has just run. A renamed column keeps its type, and one that is dropped has
    /// none any more.
    ///
    /// # Errors
    /// There is no such column, it is stored as something else, has a default that is not in its form, or a type
    /// would be lost in silence: a text for the developer.
    pub(crate) fn follow(
        &mut self,
        connection: &Connection,
        text: &str,
        said: &[(usize, Directive<'_>)],
    ) -> Result<(), String> {
        alter::follow(&mut self.0, text);
        let mut retyped = BTreeSet::new();
        for (line, directive) in said {
            let Directive::Typed { table, column, ty } = directive else { continue };
            let name = (table.to_ascii_lowercase(), column.to_ascii_lowercase());
            let known = stored(connection, &name)?;
            let known = known.ok_or_else(|| format!("there is no column `{column}` of a table `{table}`"));
            known.and_then(|known| known.fits(connection, column, *ty)).map_err(|help| at_line(*line, &help))?;
            retyped.insert(name.0.clone());
            self.0.insert(name, *ty);
        }
        let mut lost = Vec::new();
        for (name, ty) in &self.0 {
            match stored(connection, name)? {
                Some(known) => known.fits(connection, &format!("{}.{}", name.0, name.1), *ty)?,
                None if retyped.contains(&name.0) || !has_table(connection, &name.0)? => lost.push(name.clone()),
                None => return Err(vanished(name, *ty)),
            }
        }
        self.0.retain(|name, _| !lost.contains(name));
        Ok(())
    }

    /// Rows that migrations have written are in the form of their columns, after the last of them.
    pub(crate) fn rows_fit(&self, connection: &Connection) -> Result<(), String> {
        self.0.iter().try_for_each(|(name, ty)| rows_fit(connection, name, *ty))
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

/// What the table says of a column.
struct Stored {
    ty: String,
    default: Option<String>,
}

impl Stored {
    /// Can it hold values of this type, and does its default?
    fn fits(&self, connection: &Connection, column: &str, ty: ColumnType) -> Result<(), String> {
        if !self.ty.eq_ignore_ascii_case(ty.stored_as()) {
            return Err(format!("`{column}` is `{}`, and a `{ty}` is stored as `{}`", self.ty, ty.stored_as()));
        }
        let Some(default) = &self.default else { return Ok(()) };
        let kind = kind(ty).0;
        let text = connection.query_row(&format!("select cast({default} as text)"), [], |row| row.get(0));
        // What SQLite cannot evaluate by itself is only known when it runs.
        if !text.is_ok_and(|text: String| !stored::is_stored_form(&text, kind)) {
            return Ok(());
        }
        let right = match (ty, stored::now(kind)) {
            (ColumnType::Decimal { places: 0, .. }, _) => "'0'".to_owned(),
            (ColumnType::Decimal { places, .. }, _) => format!("'0.{}'", "0".repeat(places as usize)),
            (_, Some(now)) if !default.starts_with('\'') => format!("({now})"),
            _ => format!("'{}'", stored::example(kind).unwrap_or_default()),
        };
        Err(format!("the default of `{column}`, `{default}`, is not written as a `{ty}` is: write `{right}`"))
    }
}

/// The rows of a table that migrations have written.
fn rows_fit(connection: &Connection, (table, column): &(String, String), ty: ColumnType) -> Result<(), String> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let sql = format!("select cast({0} as text) from {1} where {0} is not null", quoted(column), quoted(table));
    let mut select = connection.prepare(&sql).map_err(|error| error.to_string())?;
    let texts = select.query_map([], |row| row.get::<_, String>(0)).map_err(|error| error.to_string())?;
    for text in texts {
        let text = text.map_err(|error| error.to_string())?;
        if !stored::is_stored_form(&text, kind(ty).0) {
            return Err(format!(
                "`{text}` in a row of `{table}` is not written as its `{column}`, a `{ty}`, is stored; a migration that ran \
                 already stays as it is: a new one writes it again"
            ));
        }
    }
    Ok(())
}

fn vanished((table, column): &(String, String), ty: ColumnType) -> String {
    format!(
        "`{column}` was `{ty}`, and `{table}` has no such column any more: if it has another name, write `-- skep: {table}.name is {ty}` \
         here; if it is gone, write `alter table {table} drop column {column}` before the table is made again"
    )
}

fn stored(connection: &Connection, (table, column): &(String, String)) -> Result<Option<Stored>, String> {
    let sql = "select info.type, info.dflt_value from pragma_table_list list, pragma_table_xinfo(list.name) info
        where list.schema = 'main' and list.type = 'table' and lower(list.name) = ? and lower(info.name) = ?";
    let read = |row: &Row<'_>| Ok(Stored { ty: row.get(0)?, default: row.get(1)? });
    connection.query_row(sql, [table, column], read).optional().map_err(|error| error.to_string())
}

fn has_table(connection: &Connection, table: &str) -> Result<bool, String> {
    let sql = "select 1 from sqlite_schema where type = 'table' and lower(name) = ?";
    let found = connection.query_row(sql, [table], |_| Ok(())).optional();
    found.map(|found| found.is_some()).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "../tests/unit/typed.rs"]
mod tests;
