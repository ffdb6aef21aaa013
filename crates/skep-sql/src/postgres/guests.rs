//! What statements of a component may do on PostgreSQL: read and write rows. The schema is made by migrations.
//!
//! Requests share connections, and what one leaves on a connection, the next one would find: settings, locks, temporary
//! tables. Handlers are kept from that by accident ([`skep_sql_lock::text`]); a component may be made to try (by
//! injected SQL), so what it may is listed here, and names are seen through quotes. Its migrations are trusted: a
//! function of theirs may do what its user may, and that is for PostgreSQL to say.
//!
//! Start reading at [`of_guest`].

use skep_sql_lock::text::{Piece, pieces};

use super::connection::BoundStatement;
use crate::error::{Error, Result};
use crate::value::Value;

/// How statements begin.
const MAY: &[&str] = &["delete", "insert", "merge", "notify", "select", "table", "update", "values", "with"];

/// Functions that outlast their statement, reach other connections, or run a text as a statement; and views of what
/// others do. What begins like one of those that end with `*` is refused, too.
const NAMES: &[&str] = &[
    "connectby*",
    "crosstab*",
    "currval",
    "cursor_to_xml*",
    "database_to_xml*",
    "dblink*",
    "lastval",
    "pg_advisory_lock*",
    "pg_advisory_unlock*",
    "pg_cancel_backend",
    "pg_cursors",
    "pg_prepared_statement*",
    "pg_settings",
    "pg_stat_activity",
    "pg_stat_get_activity",
    "pg_stat_statements*",
    "pg_temp*",
    "pg_terminate_backend",
    "pg_try_advisory_lock*",
    "query_to_xml*",
    "schema_to_xml*",
    "setseed",
    "table_to_xml*",
    "ts_rewrite",
    "ts_stat",
    "xpath_table",
];

/// Settings that a transaction may change, beside those of the application, which have a dot in their names. Others
/// change what statements mean that stay prepared.
const SETTINGS: &[&str] = &["lock_timeout", "statement_timeout"];

/// A statement of a component, if it may be run.
pub(crate) fn of_guest(
    text: &str,
    values: Vec<Value<'static>>,
    may_write_any: bool,
) -> Result<BoundStatement<'static>> {
    let is_own = is_savepoint(text);
    if !is_own {
        check(text).map_err(|reason| Error::other(reason).of(text))?;
    }
    Ok(BoundStatement { text: text.to_owned().into(), values, is_own, may_write_any, is_of_guest: true })
}

/// As `savepoint.rs` makes them.
fn is_savepoint(text: &str) -> bool {
    let number =
        ["savepoint skep_", "rollback to skep_", "release skep_"].iter().find_map(|way| text.strip_prefix(way));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn check(text: &str) -> Result<(), String> {
    let pieces: Vec<Piece<'_>> = pieces(text).filter(|piece| !is_space(piece)).collect();
    check_form(&pieces)?;
    for (nth, name) in pieces.iter().enumerate().filter_map(|(nth, piece)| Some((nth, name(piece)?))) {
        let follows = |words: &[&str]| nth.checked_sub(1).is_some_and(|before| is_one_of(&pieces[before], words));
        if is(&pieces[nth], "into") && !follows(&["insert", "merge"]) {
            return Err("`into` would make a table, which belongs into a migration".to_owned());
        }
        if name == "set_config" && !is_for_transaction(&pieces[nth + 1..]) {
            return Err(format!(
                "`set_config` of a component has the form `set_config('app.name', value, true)`: {FOR_TRANSACTIONS}"
            ));
        }
        let is_refused = |refused: &&&str| match refused.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == **refused,
        };
        if NAMES.iter().any(|refused| is_refused(&refused)) {
            return Err(format!(
                "`{name}` is not for statements of a component: what it does reaches other requests (write `returning` for the number \
                 of a new row, and `pg_advisory_xact_lock` for a lock)"
            ));
        }
    }
    Ok(())
}

const FOR_TRANSACTIONS: &str =
    "what a transaction may set are `statement_timeout`, `lock_timeout`, and names with a dot";

/// How it begins, and that it is read here as PostgreSQL reads it.
fn check_form(pieces: &[Piece<'_>]) -> Result<(), String> {
    let first = pieces.iter().find_map(name).unwrap_or_default();
    match pieces {
        [set, local, setting, sign, ..] if is(set, "set") && is(local, "local") => {
            let has_dot = *sign == Piece::Sign(".");
            if !has_dot && !name(setting).is_some_and(|setting| SETTINGS.contains(&&*setting)) {
                return Err(format!("`set local` of a component: {FOR_TRANSACTIONS}"));
            }
        }
        _ if !MAY.contains(&&*first) => {
            return Err(format!(
                "`{first}` is not for statements of a component, which read and write rows: expected one of {}, or `set local`; what \
                 makes tables belongs into a migration",
                MAY.join(", ")
            ));
        }
        _ => {}
    }
    if pieces.windows(3).any(|three| is(&three[0], "u") && three[1] == Piece::Sign("&") && is_quoted(&three[2], '"')) {
        return Err("`U&\"...\"` is not for statements of a component: write the name as it is".to_owned());
    }
    // The second part is one with escapes, too, which its beginning does not say.
    let has_escapes = |piece: &Piece<'_>| is_quoted(piece, 'e') || is_quoted(piece, 'E');
    if pieces.windows(2).any(|two| has_escapes(&two[0]) && is_quoted(&two[1], '\'')) {
        return Err(
            "an `E'...'` that goes on in another line is not for statements of a component: write it in one".to_owned()
        );
    }
    Ok(())
}

/// Whether these arguments, which begin with their parenthesis, are a setting that a transaction may change, a value,
/// and `true`.
fn is_for_transaction(pieces: &[Piece<'_>]) -> bool {
    let [Piece::Sign("("), Piece::Quoted(setting), Piece::Sign(","), ..] = pieces else { return false };
    let Some(setting) = setting.strip_prefix('\'').and_then(|setting| setting.strip_suffix('\'')) else { return false };
    if !setting.contains('.') && !SETTINGS.contains(&&*setting.to_ascii_lowercase()) {
        return false;
    }
    let mut depth = 0_u32;
    for (nth, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Sign("(") => depth += 1,
            Piece::Sign(")") if depth == 1 => {
                return is(&pieces[nth - 1], "true") && pieces[nth - 2] == Piece::Sign(",");
            }
            Piece::Sign(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What names something, as PostgreSQL reads it.
fn name(piece: &Piece<'_>) -> Option<String> {
    match piece {
        Piece::Word(word) => Some(word.to_lowercase()),
        Piece::Quoted(text) if is_quoted(piece, '"') => Some(text.trim_matches('"').replace("\"\"", "\"")),
        _ => None,
    }
}

fn is_quoted(piece: &Piece<'_>, start: char) -> bool {
    matches!(piece, Piece::Quoted(text) if text.starts_with(start))
}

fn is_one_of(piece: &Piece<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| is(piece, word))
}

fn is(piece: &Piece<'_>, word: &str) -> bool {
    matches!(piece, Piece::Word(text) if text.eq_ignore_ascii_case(word))
}

fn is_space(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Sign(text) => text.trim().is_empty(),
        Piece::Quoted(text) => text.starts_with("--") || text.starts_with("/*"),
        _ => false,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/postgres/guests.rs"]
mod tests;
