//! The tables that the migrations of an application make, as far as other tables refer to them.
//!
//! What is read is `create table`, `drop table`, and `alter table` with `add`, `drop column` and `rename`. SQLite and
//! PostgreSQL themselves judge the statements that are written with it.

use std::path::Path;
use std::{fs, io};

use crate::sql_words::sql_words;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    /// Lower-case, as it is written.
    pub(super) kind: String,
    /// A new row must have a value of it.
    pub(super) is_needed: bool,
    pub(super) is_never_null: bool,
    /// The table that it refers to.
    pub(super) references: Option<String>,
}

impl Table {
    /// The column that tells people which row it is. Another text than a name or a title may be a secret: an address, a
    /// password.
    pub(super) fn label(&self) -> Option<&str> {
        let mut texts = self.columns.iter().filter(|column| column.is_never_null && column.kind.starts_with("text"));
        let is_name = |column: &&Column| ["name", "title"].contains(&column.name.as_str());
        texts.find(is_name).map(|column| column.name.as_str())
    }

    /// It has rows with a number, which others can refer to.
    pub(super) fn has_id(&self) -> bool {
        self.columns.iter().any(|column| column.name == "id")
    }
}

/// The names of the migrations in a folder, in order.
pub(super) fn migrations(folder: &Path) -> io::Result<Vec<String>> {
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let names = files.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.to_lowercase().ends_with(".sql")).collect();
    names.sort();
    Ok(names)
}

/// The tables after all migrations of a folder, in the order of their names.
pub(super) fn of_folder(folder: &Path) -> Result<Vec<Table>, String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let mut tables = Vec::new();
    for name in migrations(folder).map_err(failed)? {
        let text = fs::read_to_string(folder.join(name)).map_err(failed)?;
        run(&text, &mut tables);
    }
    tables.sort_by(|one: &Table, other| one.name.cmp(&other.name));
    Ok(tables)
}

fn run(sql: &str, tables: &mut Vec<Table>) {
    for statement in sql_words(sql).split(|token| token == ";") {
        let words: Vec<String> = statement.iter().map(|token| token.to_lowercase()).collect();
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !["if", "exists"].contains(word)).collect();
        match words.as_slice() {
            ["create", "table", "not", name, "(", body @ ..] | ["create", "table", name, "(", body @ ..] => {
                tables.push(Table { name: (*name).to_owned(), columns: columns(body) });
            }
            ["drop", "table", name, ..] => tables.retain(|table| table.name != *name),
            ["alter", "table", name, "rename", "to", to] => {
                tables
                    .iter_mut()
                    .filter(|table| table.name == *name)
                    .for_each(|table| (*to).clone_into(&mut table.name));
            }
            ["alter", "table", name, "rename", "column", from, "to", to]
            | ["alter", "table", name, "rename", from, "to", to] => {
                let columns =
                    tables.iter_mut().filter(|table| table.name == *name).flat_map(|table| &mut table.columns);
                columns.filter(|column| column.name == *from).for_each(|column| (*to).clone_into(&mut column.name));
            }
            ["alter", "table", name, "drop", "column", gone, ..] => {
                let table = tables.iter_mut().filter(|table| table.name == *name);
                table.for_each(|table| table.columns.retain(|column| column.name != *gone));
            }
            ["alter", "table", name, "add", "column", body @ ..] | ["alter", "table", name, "add", body @ ..] => {
                let table = tables.iter_mut().filter(|table| table.name == *name);
                table.for_each(|table| table.columns.extend(columns(body)));
            }
            _ => {}
        }
    }
}

/// The columns, and not the constraints, of what stands between the parentheses of a table.
fn columns(body: &[&str]) -> Vec<Column> {
    let (mut parts, mut depth) = (vec![Vec::new()], 0);
    for token in body {
        match *token {
            ")" if depth == 0 => break,
            "," if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        parts.last_mut().into_iter().for_each(|part| part.push(*token));
    }
    parts.iter().filter_map(|part| column(part)).collect()
}

fn column(part: &[&str]) -> Option<Column> {
    let (name, rest) = part.split_first()?;
    if ["check", "constraint", "foreign", "primary", "unique", "exclude", "like"].contains(name) {
        return None;
    }
    let follows = |one: &str, other: &str| rest.windows(2).any(|pair| pair == [one, other]);
    let is_key = follows("primary", "key");
    let references = rest.iter().position(|word| *word == "references").and_then(|at| rest.get(at + 1));
    let is_given = is_key || rest.contains(&"default") || rest.contains(&"generated") || rest.contains(&"identity");
    Some(Column {
        name: (*name).to_owned(),
        kind: rest.first().copied().unwrap_or_default().to_owned(),
        is_needed: follows("not", "null") && !is_given,
        is_never_null: is_key || follows("not", "null"),
        references: references.map(|table| (*table).to_owned()),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/generate/tables.rs"]
mod tests;
