//! `skep db rollback`: the last migration is undone.
//!
//! What a migration adds is dropped again, in the opposite order. Of one that does anything else, a file says how it is
//! undone: nobody can read that off it.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::target::{Database, Target};
use super::{asked, postgres, sqlite};
use crate::sql_words::sql_tokens;

/// The folder with a file for each migration that does more than add, of the same name.
const FOLDER: &str = "db/rollback";

/// Undoes the last migration that ran, with what it has added.
pub(super) fn rollback(target: &Target, folder: &Path, is_confirmed: bool) -> Result<String, String> {
    target.may_change("rollback")?;
    if let Some(socket) = target.server() {
        return Err(format!(
            "a server uses {target} (it listens on {}): stop it, and `skep dev`, before",
            socket.display()
        ));
    }
    let last = "select number || ' ' || checksum || ' ' || name from skep_migrations order by number desc limit 1";
    let last = match &target.database {
        Database::Sqlite(file) => sqlite::ask(file, last)?,
        Database::Postgres(address) => postgres::ask(address, last)?,
    };
    let none = || format!("no migration has run in {target}");
    let (number, rest) = last.split_once(' ').ok_or_else(none)?;
    let (checksum, name) = rest.split_once(' ').ok_or_else(none)?;
    let undo = undo(folder, matches!(target.database, Database::Postgres(_)), name, checksum)?;
    println!("{name} is undone by\n\n{}\n", undo.trim_end());
    if !is_confirmed && !asked(&format!("Run it in {target}? What is in these tables and columns is lost. [y/N] ")) {
        return Err("nothing was done; --yes does it without asking".to_owned());
    }
    let script = format!("{}\n;\ndelete from skep_migrations where number = {number};\n", undo.trim_end());
    match &target.database {
        Database::Sqlite(file) => sqlite::run_in_transaction(file, &script)?,
        Database::Postgres(address) => {
            let file = tempfile::NamedTempFile::new().and_then(|file| fs::write(&file, script).map(|()| file));
            let file = file.map_err(|error| format!("a temporary file: {error}"))?;
            postgres::run_in_transaction(address, &file.path().display().to_string())?;
        }
    }
    Ok(format!("{name} is undone in {target}; the next start runs it again, as it then is\n"))
}

/// The statements that undo a migration, which had this checksum when it ran.
fn undo(folder: &Path, is_postgres: bool, name: &str, checksum: &str) -> Result<String, String> {
    let own = format!("{FOLDER}/{name}");
    match fs::read_to_string(folder.join(&own)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read.map_err(|error| format!("{own}: {error}")),
    }
    let file = format!("{}/{name}", if is_postgres { "migrations/postgres" } else { "migrations" });
    let text = fs::read_to_string(folder.join(&file)).map_err(|error| {
        format!("{file}: {error}: it ran last, so bring it back, or write what undoes it into {own}")
    })?;
    if skep_sql_lock::checksum(&text) != checksum {
        return Err(format!(
            "{file} has changed since it ran: bring back what ran, or write what undoes that into {own}"
        ));
    }
    drops(&text, is_postgres).map_err(|statement| {
        format!("{file} does more than add, by `{statement} ...`: write what undoes it into {own}, or `skep db reset`")
    })
}

/// A statement for each that the migration has, in the opposite order; or the first that has no opposite.
fn drops(text: &str, is_postgres: bool) -> Result<String, String> {
    let (mut drops, mut made) = (Vec::new(), Vec::new());
    for statement in statements(text) {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        // Its rows go with their table.
        if matches!(words.as_slice(), ["insert", "into", table, ..] if made.iter().any(|name| name == table)) {
            continue;
        }
        if let ["create", "table", name, ..] | ["create", "virtual", "table", name, ..] = words.as_slice() {
            made.push((*name).to_owned());
        }
        drops.push(opposite(&words, is_postgres).ok_or_else(|| words[..words.len().min(5)].join(" "))?);
    }
    drops.reverse();
    Ok(drops.join("\n"))
}

/// The statement that drops what this one adds. With `if not exists` it may have added nothing.
fn opposite(words: &[&str], is_postgres: bool) -> Option<String> {
    if words.windows(3).any(|three| three == ["if", "not", "exists"]) {
        return None;
    }
    Some(match words {
        ["create", "table", name, "(", ..] | ["create", "virtual", "table", name, "using", ..] => {
            format!("drop table {name};")
        }
        ["create", "unique", "index", rest @ ..] | ["create", "index", rest @ ..] => {
            let rest = if let ["concurrently", rest @ ..] = rest { rest } else { rest };
            let [name, "on", table, ..] = rest else { return None };
            // PostgreSQL puts it into the schema of the table.
            let schema = table.rsplit_once('.').filter(|_| is_postgres).map(|(schema, _)| format!("{schema}."));
            format!("drop index {}{name};", schema.unwrap_or_default())
        }
        ["create", "view", name, "as" | "(", ..] => format!("drop view {name};"),
        ["create", "trigger", name, rest @ ..] => {
            let table = rest.iter().position(|word| *word == "on").and_then(|at| rest.get(at + 1));
            let on = table.filter(|_| is_postgres).map(|table| format!(" on {table}")).unwrap_or_default();
            format!("drop trigger {name}{on};")
        }
        ["alter", "table", table, "add", added @ ..] => {
            let added = if let ["column", added @ ..] = added { added } else { added };
            let (column, rest) = added.split_first()?;
            if NO_COLUMN.contains(column) || has_another_action(rest) {
                return None;
            }
            format!("alter table {table} drop column {column};")
        }
        _ => return None,
    })
}

/// What `alter table` also adds.
const NO_COLUMN: [&str; 7] = ["constraint", "primary", "foreign", "unique", "check", "exclude", "not"];

/// True if a comma follows that is within no parentheses.
fn has_another_action(words: &[&str]) -> bool {
    let mut depth = 0;
    words.iter().any(|word| {
        depth += i32::from(*word == "(") - i32::from(*word == ")");
        depth == 0 && *word == ","
    })
}

/// The words of each statement: in small letters, but for those in quotes, and with a schema in front of its name. A
/// trigger of SQLite has statements within, and ends with `end`.
fn statements(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut now) = (Vec::new(), Vec::<String>::new());
    for token in sql_tokens(text) {
        let is_in_trigger = now.get(1).is_some_and(|word| word == "trigger") && now.iter().any(|word| word == "begin");
        let is_quoted = token.starts_with(['"', '`', '\'']);
        let word = if is_quoted { token.to_owned() } else { token.to_ascii_lowercase() };
        let ends = !is_in_trigger || now.last().is_some_and(|last| last == "end");
        match now.last_mut() {
            _ if word == ";" && ends => all.push(std::mem::take(&mut now)),
            _ if word == ";" => {}
            Some(last) if word == "." || last.ends_with('.') => last.push_str(&word),
            _ => now.push(word),
        }
    }
    all.push(now);
    all.retain(|statement| !statement.is_empty());
    all
}

#[cfg(test)]
#[path = "../../tests/unit/db/rollback.rs"]
mod tests;
