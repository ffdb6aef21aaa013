//! The migration and the statements of a table.

use std::fmt::Write as _;

use skep_sql_lock::Dialect;

use super::field::{Field, Kind};
use super::name::Name;

/// A new table.
pub(super) struct NewTable<'a> {
    pub(super) name: &'a Name,
    pub(super) fields: &'a [Field],
}

impl NewTable<'_> {
    /// `create table`, with an index for each reference.
    pub(super) fn migration(&self, dialect: Dialect) -> String {
        let (id, end) = match dialect {
            Dialect::Sqlite => ("integer primary key autoincrement", ") strict;"),
            Dialect::Postgres => ("bigint generated always as identity primary key", ");"),
        };
        let columns =
            self.fields.iter().map(|field| format!(",\n    {} {}", field.column(), column_type(field, dialect)));
        let table = self.name.snake();
        let mut sql = format!("create table {table} (\n    id {id}{}\n{end}\n", columns.collect::<String>());
        for field in self.fields.iter().filter(|field| field.kind == Kind::Reference) {
            let column = field.column();
            let blank = if sql.ends_with(&format!("{end}\n")) { "\n" } else { "" };
            _ = writeln!(sql, "{blank}create index {table}_by_{} on {table} ({column});", field.name.snake());
        }
        sql
    }

    /// A literal: `"insert into post (title) values (?) returning id"`.
    pub(super) fn insert(&self) -> String {
        let marks = vec!["?"; self.fields.len()].join(", ");
        literal(&format!("insert into {} ({}) values ({marks}) returning id", self.name.snake(), self.columns()))
    }

    /// A literal: `"update post set title = ? where id = ?"`.
    pub(super) fn update(&self) -> String {
        let sets: Vec<_> = self.fields.iter().map(|field| format!("{} = ?", field.column())).collect();
        literal(&format!("update {} set {} where id = ?", self.name.snake(), sets.join(", ")))
    }

    /// A literal that selects the row with a number.
    pub(super) fn select_one(&self) -> String {
        literal(&format!("select id, {} from {} where id = ?", self.columns(), self.name.snake()))
    }

    /// A literal that selects the newest rows.
    pub(super) fn select_all(&self) -> String {
        literal(&format!("select id, {} from {} order by id desc limit 100", self.columns(), self.name.snake()))
    }

    fn columns(&self) -> String {
        self.fields.iter().map(Field::column).collect::<Vec<_>>().join(", ")
    }

    /// A literal that selects these fields for people: of a row of another table, what it is called. `end` follows.
    pub(super) fn select_shown(&self, fields: &[&Field], with_keys: bool, end: &str) -> String {
        let table = self.name.snake();
        let mut columns = if with_keys { Vec::new() } else { vec![format!("{table}.id as id")] };
        let mut joins = String::new();
        for field in fields {
            let (column, name) = (field.column(), field.name.snake());
            if with_keys || field.kind != Kind::Reference {
                columns.push(format!("{table}.{column}"));
            }
            if let Some(other) = &field.table {
                let label = other.label().unwrap_or("id");
                columns.push(format!("{name}.{label} as {name}"));
                let join = if field.optional { "left join" } else { "join" };
                let alias = if other.name == name { String::new() } else { format!(" as {name}") };
                _ = write!(joins, " {join} {}{alias} on {name}.id = {table}.{column}", other.name);
            }
        }
        let text = format!("select {} from {table}{joins} {end}", columns.join(", "));
        // Without other tables, nothing needs its table's name.
        literal(&if joins.is_empty() { text.replace("id as id", "id").replace(&format!("{table}."), "") } else { text })
    }
}

/// A literal of Rust, over several lines if it is long. rustfmt moves the first one only, to where all arguments begin.
fn literal(text: &str) -> String {
    const WIDTH: usize = 88;
    if text.len() <= WIDTH {
        return format!("\"{text}\"");
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split(' ') {
        // A clause begins a line of its own, and a list goes on in the next one behind a comma.
        let begins = ["from", "join", "left", "values", "where", "order"].contains(&word) && !line.ends_with("left ");
        if begins || line.ends_with(", ") && line.len() > WIDTH - 20 {
            lines.push(std::mem::take(&mut line));
        }
        line += word;
        line.push(' ');
    }
    lines.push(line);
    format!("\"{}\"", lines.join("\\\n             ").trim_end())
}

fn column_type(field: &Field, dialect: Dialect) -> String {
    let kind = match (field.kind, dialect) {
        (Kind::Integer | Kind::Reference, Dialect::Sqlite) => "integer",
        (Kind::Integer | Kind::Reference, Dialect::Postgres) => "bigint",
        (Kind::Real, Dialect::Sqlite) => "real",
        (Kind::Real, Dialect::Postgres) => "double precision",
        (Kind::Bool, Dialect::Sqlite) => {
            return format!("integer not null default 0 check ({} in (0, 1))", field.column());
        }
        (Kind::Bool, Dialect::Postgres) => return "boolean not null default false".to_owned(),
        _ => "text",
    };
    let null = if field.optional { "" } else { " not null" };
    let reference = field.table.as_ref().map(|table| format!(" references {} (id)", table.name)).unwrap_or_default();
    format!("{kind}{null}{reference}")
}
