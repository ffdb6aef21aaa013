//! What migrations say of scopes: `-- skep: token is scoped by user_id`.
//!
//! Start reading at [`Declared::follow`].

use std::collections::BTreeMap;

use skep_sql_lock::directive::{at_line, not_on_postgres, typed_on_postgres};
use skep_sql_lock::{Dialect, Directive, directives, scope};
use tokio_postgres::Client;

use crate::sql::server::chain;

/// By which column the rows of a table are scoped; by the table's name, as it is looked up.
#[derive(Default)]
pub(in crate::sql) struct Declared(pub(super) BTreeMap<String, Declaration>);

pub(super) struct Declaration {
    pub(super) column: String,
    /// The number of the table, and that of the column in it.
    pub(super) of: ColumnId,
}

type ColumnId = (u32, i16);

const COLUMN: &str = "
    select c.oid, a.attnum from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.oid = to_regclass($1::text) and c.relkind in ('r', 'p') and a.attname = $2::text and a.attnum > 0
        and not a.attisdropped";

impl Declared {
    /// Follows what a migration says that has just run.
    ///
    /// # Errors
    /// It says something of a table or column which is not there, or a scope would be lost in silence: a text for the
    /// developer.
    pub(in crate::sql) async fn follow(&mut self, client: &Client, migration: &str) -> Result<(), String> {
        for (line, directive) in directives(Dialect::Postgres, migration)? {
            self.follow_one(client, directive).await.map_err(|help| at_line(line, &help))?;
        }
        for (table, Declaration { column, of }) in &self.0 {
            // Another table of the same name is scoped if that is said again.
            if column_id(client, table, column).await? != Some(*of) {
                return Err(scope::lost(table, column));
            }
        }
        Ok(())
    }

    async fn follow_one(&mut self, client: &Client, directive: Directive<'_>) -> Result<(), String> {
        match directive {
            Directive::NotScoped { table } => {
                let table = folded(table);
                self.0.remove(&table).ok_or_else(|| scope::not_scoped_before(&table))?;
            }
            Directive::Scoped { table, column } => {
                let (table, column) = (folded(table), folded(column).trim_matches('"').to_owned());
                let of = column_id(client, &table, &column).await?;
                let of = of.ok_or_else(|| scope::no_column(&table, &column))?;
                self.0.insert(table, Declaration { column, of });
            }
            Directive::Function(function) => return Err(not_on_postgres(&function)),
            Directive::Typed { column, ty, .. } => return Err(typed_on_postgres(column, ty)),
            Directive::DropFunction { name } => return Err(format!("no function `{name}` was declared before")),
        }
        Ok(())
    }
}

async fn column_id(client: &Client, table: &str, column: &str) -> Result<Option<ColumnId>, String> {
    let row = client.query_opt(COLUMN, &[&table, &column]).await.map_err(|error| chain(&error))?;
    Ok(row.map(|row| (row.get(0), row.get(1))))
}

/// As PostgreSQL does with a name that is not quoted.
fn folded(name: &str) -> String {
    if name.contains('"') { name.to_owned() } else { name.to_ascii_lowercase() }
}
