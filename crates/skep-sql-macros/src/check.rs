//! What SQLite says of one text, and what can be inferred of it.
//!
//! Start reading at [`check`].

use std::collections::BTreeSet;

use rusqlite::Error;
use skep_sql_lock::Proof;
use skep_sql_lock::message::{listed, pointed};
use skep_sql_lock::scope::unfollowed;

use crate::access::Access;
use crate::infer::scope::{self, Scopes};
use crate::infer::{self, Inferred, Kind, Type};
use crate::schema::{Form, Schema, Scoped};
use crate::text;

/// A statement that SQLite accepts.
pub(crate) struct Checked {
    /// As it is run.
    pub(crate) sql: String,
    pub(crate) columns: Vec<Column>,
    /// What each parameter is compared with or put into.
    pub(crate) parameters: Vec<Kind>,
    pub(crate) reads: BTreeSet<(String, String)>,
    pub(crate) writes: BTreeSet<(String, String)>,
    pub(crate) reads_only: bool,
    /// `*` is among the columns.
    pub(crate) has_star: bool,
    /// Tables that are not `strict`.
    pub(crate) loose: BTreeSet<String>,
    /// Parameters that must be a `Scope`.
    pub(crate) proofs: BTreeSet<Proof>,
    /// It reads or writes rows that belong to somebody.
    pub(crate) is_of_scoped: bool,
}

pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Said never to be NULL: `as "name!"`.
    pub(crate) asserted: bool,
}

/// Checks a statement; `lists` are the numbers of its parameters that are lists, from 1. An unscoped one may read and
/// write the rows of everybody.
///
/// # Errors
/// A text for the developer, with the place in the statement.
pub(crate) fn check(schema: &Schema, marked: &str, lists: &[usize], unscoped: bool) -> Result<Checked, String> {
    let sql = text::without_marks(marked);
    if text::has_more(&sql) {
        return Err("expected one statement; what follows the `;` would never run".to_owned());
    }
    let mut prepared = prepare(schema, &sql);
    if sql != marked {
        // A second time for the names: where one is marked, other names may refer to the one without the mark.
        let names = names(schema, marked)?;
        prepared = prepared.map(|prepared| Prepared { names, ..prepared });
    }
    let prepared = prepared?;
    let names = prepared.names;
    let numbered = text::numbered(&sql);
    let scopes = scopes(schema, &numbered, &prepared.access, prepared.reads_only);
    let is_of_scoped = !scopes.tables.is_empty();
    let proofs = if unscoped { BTreeSet::new() } else { scopes.complaint.map_or(Ok(scopes.proofs), Err)? };
    let mut inferred = infer::infer(schema, &numbered, prepared.parameters, lists);
    inferred.complaint.take().map_or(Ok(()), Err)?;
    let types = inferred.columns.as_ref().filter(|types| types.len() == names.len());
    let columns = names.into_iter().enumerate().map(|(nth, name)| {
        let asserted = name.ends_with('!');
        let ty = types.map_or(Type::UNKNOWN, |types| types[nth]);
        Column { name: name.trim_end_matches('!').to_owned(), ty, asserted }
    });
    let columns = columns.collect();
    let Access { mut reads, mut writes, .. } = prepared.access;
    add_unreported(schema, &inferred, &mut reads);
    add_sources_of_virtual(schema, &mut reads);
    // What remains is no table: views, whose tables are there themselves, and functions such as `json_each`.
    let is_table = |(name, _): &(String, String)| schema.table(name).is_some_and(|table| table.form != Form::View);
    reads.retain(is_table);
    writes.retain(is_table);
    let touched = reads.iter().chain(&writes).filter_map(|(table, _)| schema.table(table));
    let loose = touched
        .filter(|table| table.form == Form::Table && !table.strict && !table.is_internal())
        .map(|table| table.name.clone())
        .collect();
    let (parameters, has_star, reads_only) = (inferred.parameters, inferred.has_star, prepared.reads_only);
    Ok(Checked { sql, columns, parameters, reads, writes, reads_only, has_star, loose, proofs, is_of_scoped })
}

/// What the statement does with scoped tables.
fn scopes(schema: &Schema, numbered: &str, access: &Access, reads_only: bool) -> Scopes {
    if schema.scoped.is_empty() {
        return Scopes::default();
    }
    let mut scopes = scope::scopes(schema, numbered);
    let touched = |pairs: &BTreeSet<(String, String)>| {
        let names = pairs.iter().map(|(table, _)| table.to_ascii_lowercase());
        names.filter(|name| matches!(schema.scoped.get(name), Some(Scoped::By(_)))).collect::<BTreeSet<_>>()
    };
    let mut reported = touched(&access.reads);
    reported.extend(touched(&access.writes));
    if !scopes.is_understood {
        scopes.tables.extend(reported);
        scopes.complaint = scopes.tables.first().map(|table| unfollowed(table));
    } else if reads_only && scopes.complaint.is_none() {
        // SQLite's own account. A write has more in it: triggers, and what foreign keys look up.
        let missed = reported.iter().find(|table| !scopes.tables.contains(*table));
        scopes.complaint =
            missed.map(|table| format!("`{table}` is scoped, and `sql!` cannot follow how this reads it"));
        scopes.tables.extend(reported);
    }
    scopes
}

/// The authorizer is not asked about `vacuum` and `explain`.
const OF_A_REQUEST: [&str; 7] = ["select", "insert", "update", "delete", "replace", "with", "values"];

struct Prepared {
    /// Of the columns.
    names: Vec<String>,
    parameters: usize,
    reads_only: bool,
    access: Access,
}

fn prepare(schema: &Schema, sql: &str) -> Result<Prepared, String> {
    *schema.access() = Access::default();
    let statement = schema.connection.prepare(sql);
    let access = schema.access().clone();
    let statement = statement.map_err(|error| explain(schema, sql, &error, access.refused))?;
    if sql.trim().is_empty() || statement.expanded_sql().is_none_or(|sql| sql.trim().is_empty()) {
        return Err("the statement is empty".to_owned());
    }
    let word = text::first_word(sql).to_ascii_lowercase();
    if !OF_A_REQUEST.contains(&word.as_str()) {
        return Err(format!("expected a statement that reads or writes rows: {}, not `{word}`", listed(OF_A_REQUEST)));
    }
    let names = statement.column_names().map(str::to_owned).collect();
    Ok(Prepared { names, parameters: statement.parameter_count(), reads_only: statement.readonly(), access })
}

fn names(schema: &Schema, marked: &str) -> Result<Vec<String>, String> {
    let statement = schema.connection.prepare(marked);
    let refused = schema.access().refused;
    let statement = statement.map_err(|error| explain(schema, marked, &error, refused))?;
    Ok(statement.column_names().map(str::to_owned).collect())
}

/// SQLite does not report the columns of `natural` and `using`, nor can the tables of a text that was not understood be
/// told.
fn add_unreported(schema: &Schema, inferred: &Inferred, reads: &mut BTreeSet<(String, String)>) {
    let all: Vec<String> = match &inferred.columns {
        Some(_) if !inferred.joined_by_name => return,
        Some(_) => inferred.tables.clone(),
        None => reads.iter().map(|(table, _)| table.clone()).collect(),
    };
    for table in all.iter().filter_map(|name| schema.table(name)) {
        reads.extend(table.columns.iter().map(|column| (table.name.clone(), column.name.clone())));
    }
}

/// What a virtual table answers may come from other tables, as that of FTS5 with `content=post` does. Which ones, only
/// its module knows: those whose names are in its text.
fn add_sources_of_virtual(schema: &Schema, reads: &mut BTreeSet<(String, String)>) {
    let virtual_tables: BTreeSet<String> = reads.iter().map(|(table, _)| table.clone()).collect();
    let texts = virtual_tables.iter().filter_map(|name| schema.table(name)).filter(|table| table.form == Form::Virtual);
    for word in texts.flat_map(|table| table.sql.split(|c: char| !(c.is_alphanumeric() || c == '_'))) {
        if let Some(table) = schema.table(word) {
            reads.extend(table.columns.iter().map(|column| (table.name.clone(), column.name.clone())));
        }
    }
}

/// SQLite's message, the place, and the name that was probably meant.
fn explain(schema: &Schema, sql: &str, error: &Error, refused: Option<&'static str>) -> String {
    let (message, offset) = match error {
        Error::SqlInputError { msg, offset, .. } => (msg.clone(), usize::try_from(*offset).ok()),
        Error::SqliteFailure(_, Some(message)) => (message.clone(), None),
        other => (other.to_string(), None),
    };
    let message = refused.map_or(message, str::to_owned);
    let mut text = message.clone();
    if let Some(offset) = offset {
        text.push_str(&pointed(sql, offset));
    }
    if refused.is_none()
        && let Some(help) = help(schema, sql, &message)
    {
        text.push_str("\nhelp: ");
        text.push_str(&help);
    }
    text
}

/// The nearest name, for an error that names something which does not exist.
fn help(schema: &Schema, sql: &str, message: &str) -> Option<String> {
    if let Some(name) = message.strip_prefix("no such table: ") {
        return Some(table_help(schema, plain(name)));
    }
    if let Some(name) = message.strip_prefix("no such column: ") {
        return column_help(schema, sql, name);
    }
    if let Some((table, name)) =
        message.strip_prefix("table ").and_then(|rest| rest.split_once(" has no column named "))
    {
        return schema.table(table).map(|table| of_table(table, name));
    }
    if let Some(name) = message.strip_prefix("wrong number of arguments to function ") {
        let declared = schema.declared.get(name.trim_end_matches("()"))?;
        return Some(format!("{}, line {}, declares `{}`", declared.file, declared.line, declared.function));
    }
    if let Some(name) = message.strip_prefix("no such function: ") {
        let near = skep_units::nearest(name, schema.function_names());
        return Some(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!(
                "a function of the application is declared in a migration: `-- skep: function {name}(text) text`"
            ),
        });
    }
    None
}

fn table_help(schema: &Schema, name: &str) -> String {
    let mut known: Vec<&str> =
        schema.tables.values().filter(|table| !table.is_internal()).map(|table| &*table.name).collect();
    known.sort_unstable();
    match skep_units::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "the migrations make no table".to_owned(),
        None => format!("the migrations make {}", listed(known)),
    }
}

fn column_help(schema: &Schema, sql: &str, name: &str) -> Option<String> {
    let (table, column) = match name.rsplit_once('.') {
        Some((table, column)) => (Some(plain(table)), plain(column)),
        None => (None, plain(name)),
    };
    let lower = sql.to_ascii_lowercase();
    let words: BTreeSet<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let mut mentioned: Vec<_> =
        schema.tables.iter().filter(|(known, _)| words.contains(known.as_str())).map(|(_, table)| table).collect();
    mentioned.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(named) =
        table.and_then(|name| schema.table(name)).filter(|named| mentioned.iter().any(|one| one.name == named.name))
    {
        return Some(of_table(named, column));
    }
    let has = |table: &&&crate::schema::Table| table.columns.iter().any(|one| one.name.eq_ignore_ascii_case(column));
    if let Some(owner) = mentioned.iter().find(has) {
        return Some(match table {
            Some(table) => {
                format!("`{}` has a column `{column}`, and `{table}` is not what the statement calls it", owner.name)
            }
            None => format!("`{}` has a column `{column}`, which cannot be named here", owner.name),
        });
    }
    let near = mentioned.iter().find_map(|table| {
        let near = skep_units::nearest(column, table.columns.iter().map(|column| &*column.name))?;
        Some(format!("did you mean `{near}` of `{}`?", table.name))
    });
    near.or_else(|| match mentioned.as_slice() {
        [] => None,
        [only] => Some(of_table(only, column)),
        many => {
            let all = many.iter().map(|table| format!("`{}` has {}", table.name, columns(table)));
            Some(all.collect::<Vec<_>>().join("; "))
        }
    })
}

fn of_table(table: &crate::schema::Table, column: &str) -> String {
    match skep_units::nearest(column, table.columns.iter().map(|column| &*column.name)) {
        Some(near) => format!("did you mean `{near}`? `{}` has {}", table.name, columns(table)),
        None => format!("`{}` has {}", table.name, columns(table)),
    }
}

fn columns(table: &crate::schema::Table) -> String {
    listed(table.columns.iter().filter(|column| !column.hidden).map(|column| &*column.name))
}

fn plain(name: &str) -> &str {
    name.trim_matches(['"', '`', '[', ']', '\''])
}

#[cfg(test)]
#[path = "../tests/unit/soundness.rs"]
mod soundness;
#[cfg(test)]
#[path = "../tests/unit/check.rs"]
mod tests;
