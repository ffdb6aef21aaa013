//! `skep db rollback`: the last migration is undone.
//!
//! What a migration adds is dropped again, in the opposite order. Of one that does anything else, a file says how it is
//! undone: nobody can read that off it.

use std::fs;
use std::path::Path;

use super::target::{Database, Target};
use super::{asked, postgres, sqlite};
use crate::sql_words::sql_words;

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
    let last = "select number || ' ' || name from skep_migrations order by number desc limit 1";
    let last = match &target.database {
        Database::Sqlite(file) => sqlite::ask(file, last)?,
        Database::Postgres(address) => postgres::ask(address, last)?,
    };
    let (number, name) = last.split_once(' ').ok_or_else(|| format!("no migration has run in {target}"))?;
    let undo = undo(folder, matches!(target.database, Database::Postgres(_)), name)?;
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

/// The statements that undo a migration.
fn undo(folder: &Path, is_postgres: bool, name: &str) -> Result<String, String> {
    let own = format!("{FOLDER}/{name}");
    if let Ok(text) = fs::read_to_string(folder.join(&own)) {
        return Ok(text);
    }
    let file = format!("{}/{name}", if is_postgres { "migrations/postgres" } else { "migrations" });
    let text = fs::read_to_string(folder.join(&file)).map_err(|error| {
        format!("{file}: {error}: it ran last, so bring it back, or write what undoes it into {own}")
    })?;
    drops(&text, is_postgres).map_err(|statement| {
        format!("{file} does more than add, by `{statement} ...`: write what undoes it into {own}, or `skep db reset`")
    })
}

/// A statement for each that the migration has, in the opposite order; or the first that has no opposite.
fn drops(text: &str, is_postgres: bool) -> Result<String, String> {
    let (mut drops, mut made) = (Vec::new(), Vec::new());
    for statement in statements(text) {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !["if", "exists"].contains(word)).collect();
        match words.as_slice() {
            ["create", "table", "not", name, "(", ..]
            | ["create", "table", name, "(", ..]
            | ["create", "virtual", "table", name, "using", ..] => {
                made.push((*name).to_owned());
                drops.push(format!("drop table {name};"));
            }
            ["create", "unique", "index", name, "on", ..] | ["create", "index", name, "on", ..] => {
                drops.push(format!("drop index {name};"));
            }
            ["create", "view", name, "as" | "(", ..] => drops.push(format!("drop view {name};")),
            ["create", "trigger", name, rest @ ..] => {
                let table = rest.iter().position(|word| *word == "on").and_then(|at| rest.get(at + 1));
                let on = table.filter(|_| is_postgres).map(|table| format!(" on {table}")).unwrap_or_default();
                drops.push(format!("drop trigger {name}{on};"));
            }
            ["alter", "table", table, "add", "column", column, rest @ ..] if !rest.contains(&"add") => {
                drops.push(format!("alter table {table} drop column {column};"));
            }
            // Its rows go with their table.
            ["insert", "into", table, ..] if made.iter().any(|name| name == table) => {}
            other => return Err(other[..other.len().min(4)].join(" ")),
        }
    }
    drops.reverse();
    Ok(drops.join("\n"))
}

/// The words of each statement, in small letters. A trigger of SQLite has statements within, and ends with `end`.
fn statements(text: &str) -> Vec<Vec<String>> {
    let (mut all, mut now) = (Vec::new(), Vec::<String>::new());
    for word in sql_words(text) {
        let is_in_trigger = now.get(1).is_some_and(|word| word == "trigger") && now.iter().any(|word| word == "begin");
        if word != ";" {
            now.push(word.to_lowercase());
        } else if !is_in_trigger || now.last().is_some_and(|last| last == "end") {
            all.push(std::mem::take(&mut now));
        }
    }
    all.push(now);
    all.retain(|statement| !statement.is_empty());
    all
}

#[cfg(test)]
#[path = "../../tests/unit/db/rollback.rs"]
mod tests;
