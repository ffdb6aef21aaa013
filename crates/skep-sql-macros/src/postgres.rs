//! `sql!` for PostgreSQL: what `skep sql check` has noted of its statements in the lock file.
//!
//! Nothing is asked of a server here. For `skep sql check` itself, each expansion writes its statements into a folder.
//!
//! Start reading at [`expand`].

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use proc_macro2::{Span, TokenStream};
use skep_sql_lock::message::listed;
use skep_sql_lock::text::{Piece, Text, pieces, without_marks};
use skep_sql_lock::{Dialect, Entry, FILE, FOLDER, Kind as Noted, Lock, Migrations, Reach, Tables, Unknown};
use syn::{Error, LitStr, Result};

use crate::check::{Checked, Column};
use crate::infer::{Kind, Type};
use crate::input::Input;
use crate::package;
use crate::statement::{
    Combination, Scopes, Whole, add_scopes, combinations, join, refuse_needless, refuse_scopes, same_columns,
};
use crate::text::first_word;
use crate::write;

/// The variable in which `skep sql check` names a folder for the statements. A lock file there is read instead of the
/// usual one.
pub(crate) const LIST: &str = "SKEP_SQL_LIST";

const OF_A_REQUEST: [&str; 7] = ["select", "insert", "update", "delete", "merge", "with", "values"];

/// Where the facts are, below the package's folder, and which hold.
struct Known {
    seen: Instant,
    migrations: Migrations,
    lock: Lock,
    /// The lock file is there.
    has_file: bool,
}

pub(crate) fn expand(input: &Input) -> Result<TokenStream> {
    let span = input.literal().map_or_else(Span::call_site, LitStr::span);
    let at = input.folder.as_ref().map_or(span, LitStr::span);
    let folder = input.folder.as_ref().map_or_else(|| "migrations".to_owned(), LitStr::value);
    let folder = format!("{folder}/{FOLDER}");
    let known = known(&package::root().join(&folder)).map_err(|help| Error::new(at, help))?;
    let combinations = combinations(input).map_err(|help| Error::new(span, help))?;
    for combination in &combinations {
        refuse(&combination.sql).map_err(|help| Error::new(span, help))?;
    }
    if let Some(list) = std::env::var_os(LIST) {
        for Combination { sql, .. } in &combinations {
            note(Path::new(&list), &package::root().join(&folder), sql, span).map_err(|help| Error::new(span, help))?;
        }
        if combinations.iter().any(|one| known.lock.find(&one.sql, &known.migrations.hash).is_err()) {
            let gives_rows = combinations.iter().any(|one| gives_rows(&one.sql));
            return Ok(write::not_checked_yet(input, gives_rows));
        }
    }
    let whole = whole(&known, combinations, input, &folder).map_err(|help| Error::new(span, help))?;
    write::expression(input, &whole)
}

fn whole(
    known: &Known,
    combinations: Vec<Combination>,
    input: &Input,
    folder: &str,
) -> std::result::Result<Whole, String> {
    let (mut statements, mut kinds, mut scopes) = (Vec::<Checked>::new(), HashMap::new(), Scopes::new());
    let mut arrays = HashSet::new();
    for Combination { sql, places, lists } in combinations {
        let entry = known.lock.find(&sql, &known.migrations.hash).map_err(|unknown| explain(unknown, folder))?;
        let checked = checked(entry, input.unscoped.is_some())?;
        add_scopes(&mut scopes, &checked.proofs, &places, &lists)?;
        let described = places.iter().zip(&entry.parameters);
        arrays.extend(described.filter(|(_, parameter)| parameter.is_list).map(|(place, _)| *place));
        for (place, kind) in places.into_iter().zip(&checked.parameters) {
            kinds.entry(place).and_modify(|known| *known = join(*known, *kind)).or_insert(*kind);
        }
        if let Some(first) = statements.first() {
            same_columns(first, &checked)?;
        }
        statements.push(checked);
    }
    refuse_needless(input, &statements)?;
    refuse_scopes(input, &scopes)?;
    let names = known.migrations.files.iter().filter_map(|(path, _)| path.file_name()?.to_str());
    // Cargo watches the lock file, once `skep sql check` has made it.
    let files = names.chain(known.has_file.then_some(FILE)).map(|name| format!("/{folder}/{name}"));
    let files = files.chain([package::MANIFEST.to_owned()]).collect();
    Ok(Whole { home: input.home, dialect: Dialect::Postgres, statements, kinds, arrays, scopes, files })
}

fn explain(unknown: Unknown, folder: &str) -> String {
    let why = match unknown {
        Unknown::Missing => format!("this statement is not in {folder}/{FILE}"),
        Unknown::Stale => {
            format!("what {folder}/{FILE} has of this statement is stale: it, or a migration, was changed")
        }
    };
    format!("{why}\nhelp: run `skep sql check`, which asks PostgreSQL what the statement is, and writes that file")
}

/// The statement and what was noted of it. An unscoped one may read and write the rows of everybody.
fn checked(entry: &Entry, unscoped: bool) -> std::result::Result<Checked, String> {
    let proofs = match &entry.reach {
        _ if unscoped => BTreeSet::new(),
        Reach::NoScoped => BTreeSet::new(),
        Reach::Scoped(proofs) => proofs.clone(),
        Reach::Everybody(why) => return Err(why.clone()),
    };
    let columns = entry.columns.iter().map(|column| {
        let (nullable, boolean, unique) = (column.nullable, column.kind == Noted::Boolean, column.unique);
        let ty = Type { nullable, boolean, unique, is_list: column.is_list, ..Type::of(kind(column.kind)) };
        let asserted = column.name.ends_with('!');
        Column { name: column.name.trim_end_matches('!').to_owned(), ty, asserted }
    });
    let tables = |tables: &Tables| tables.names().map(|name| (name.to_owned(), String::new())).collect();
    Ok(Checked {
        sql: without_marks(&entry.statement),
        columns: columns.collect(),
        parameters: entry.parameters.iter().map(|parameter| kind(parameter.kind)).collect(),
        reads: tables(&entry.reads),
        writes: tables(&entry.writes),
        reads_only: entry.writes == Tables::none() && !entry.is_volatile,
        has_star: has_star(&entry.statement),
        loose: BTreeSet::new(),
        proofs,
        is_of_scoped: entry.reach != Reach::NoScoped,
    })
}

fn kind(kind: Noted) -> Kind {
    match kind {
        Noted::Integer | Noted::Boolean => Kind::Integer,
        Noted::Real => Kind::Real,
        Noted::Text => Kind::Text,
        Noted::Date => Kind::Date,
        Noted::Time => Kind::Time,
        Noted::DateTime => Kind::DateTime,
        Noted::Timestamp => Kind::Timestamp,
        Noted::Json => Kind::Json,
        Noted::Blob => Kind::Blob,
        Noted::Decimal => Kind::Decimal,
        Noted::Any => Kind::Any,
    }
}

/// What needs no server to be found wrong.
fn refuse(sql: &str) -> std::result::Result<(), String> {
    let word = first_word(sql).to_ascii_lowercase();
    if word.is_empty() {
        return Err("the statement is empty".to_owned());
    }
    if !OF_A_REQUEST.contains(&word.as_str()) {
        return Err(format!("expected a statement that reads or writes rows: {}, not `{word}`", listed(OF_A_REQUEST)));
    }
    Text::of(sql, false)?;
    let signs = pieces(sql).filter(|piece| !is_blank(piece));
    let after = signs.skip_while(|piece| *piece != Piece::Sign(";"));
    if after.into_iter().any(|piece| piece != Piece::Sign(";")) {
        return Err("expected one statement; what follows the `;` would never run".to_owned());
    }
    Ok(())
}

fn is_blank(piece: &Piece<'_>) -> bool {
    match piece {
        Piece::Sign(sign) => sign.trim().is_empty(),
        Piece::Quoted(text) => text.starts_with("--") || text.starts_with("/*"),
        _ => false,
    }
}

fn gives_rows(sql: &str) -> bool {
    let has =
        |name: &str| pieces(sql).any(|piece| matches!(piece, Piece::Word(word) if word.eq_ignore_ascii_case(name)));
    has("returning")
        || !["insert", "update", "delete", "merge"].contains(&first_word(sql).to_ascii_lowercase().as_str())
}

/// What may follow a `*` that stands for columns; a factor follows any other.
const AFTER_STAR: [&str; 12] =
    ["except", "fetch", "for", "from", "group", "having", "intersect", "limit", "offset", "order", "union", "where"];

/// True if `*` is among the columns of the answer.
fn has_star(sql: &str) -> bool {
    let (mut depth, mut was_star) = (0_u32, false);
    for piece in pieces(sql).filter(|piece| !is_blank(piece)) {
        let ends_columns = match piece {
            Piece::Sign("," | ";") => true,
            Piece::Word(word) => AFTER_STAR.contains(&word.to_ascii_lowercase().as_str()),
            _ => false,
        };
        if was_star && ends_columns {
            return true;
        }
        match piece {
            Piece::Sign("(") => depth += 1,
            Piece::Sign(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        was_star = depth == 0 && piece == Piece::Sign("*");
    }
    was_star
}

/// The folder's migrations and lock file.
fn known(folder: &Path) -> std::result::Result<Rc<Known>, String> {
    thread_local! {
        static KNOWN: RefCell<HashMap<PathBuf, Rc<Known>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|all| {
        if let Some(known) = all.get(folder).filter(|known| known.seen.elapsed() < package::FRESH) {
            return Ok(Rc::clone(known));
        }
        let known = Rc::new(Known::read(folder)?);
        all.insert(folder.to_owned(), Rc::clone(&known));
        Ok(known)
    })
}

impl Known {
    fn read(folder: &Path) -> std::result::Result<Self, String> {
        let migrations = Migrations::read(folder)?;
        let file = std::env::var_os(LIST).map_or_else(|| folder.to_owned(), PathBuf::from).join(FILE);
        // One that is not there is made by the command that the error names.
        let text = fs::read_to_string(&file).unwrap_or_default();
        let lock = Lock::parse(&text).map_err(|(line, text)| {
            format!(
                "{}, line {line}: `{text}` was not written by `skep sql check`\nhelp: remove the file, and run `skep sql check`",
                file.display()
            )
        })?;
        Ok(Self { seen: Instant::now(), migrations, lock, has_file: folder.join(FILE).is_file() })
    }
}

/// Writes the statement and its place into the folder of `skep sql check`.
fn note(list: &Path, folder: &Path, sql: &str, span: Span) -> std::result::Result<(), String> {
    let place = span.unwrap();
    let place = format!("{}:{}:{}", place.file(), place.line(), place.column());
    let text = format!("{}\n{place}\n{sql}", folder.display());
    let file = list.join(format!("{}.statement", skep_sql_lock::hash([text.as_str()])));
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
#[path = "../tests/unit/postgres.rs"]
mod tests;
