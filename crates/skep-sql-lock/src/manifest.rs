//! Which database `sql!` is checked for: `[package.metadata.skep]` in the package's `Cargo.toml`.

use std::fmt;

/// The databases that `sql!` checks statements for: `[package.metadata.skep]` in the application's `Cargo.toml`
/// chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Unless said.
    #[default]
    Sqlite,
    /// `database = "postgres"`
    Postgres,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

const FORM: &str = "expected\n[package.metadata.skep]\ndatabase = \"postgres\"\nor nothing, for SQLite";

/// What a `Cargo.toml` says.
///
/// ```
/// use skep_sql_lock::{Dialect, dialect};
///
/// assert_eq!(dialect("[package]\nname = \"shop\""), Ok(Dialect::Sqlite));
/// assert_eq!(dialect("[package.metadata.skep]\ndatabase = \"postgres\""), Ok(Dialect::Postgres));
/// assert!(dialect("[package.metadata.skep]\ndatabase = \"oracle\"").is_err());
/// ```
///
/// # Errors
/// It names another database, or says it in another way: a text for the developer.
pub fn dialect(manifest: &str) -> Result<Dialect, String> {
    let mut section = String::new();
    let mut found = Dialect::Sqlite;
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = path(header.split(']').next().unwrap_or_default());
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { continue };
        let key = path(key);
        let whole = if section.is_empty() { key } else { format!("{section}.{key}") };
        match whole.as_str() {
            "package.metadata.skep.database" => found = database(value)?,
            "package" | "package.metadata" | "package.metadata.skep" if value.contains("database") => {
                return Err(format!("Cargo.toml: `{line}` is not understood here: {FORM}"));
            }
            _ => {}
        }
    }
    Ok(found)
}

fn database(value: &str) -> Result<Dialect, String> {
    let value = value.split('#').next().unwrap_or_default().trim();
    match value.trim_matches(['"', '\'']) {
        "postgres" => Ok(Dialect::Postgres),
        _ => Err(format!("Cargo.toml: `database = {value}` names no database that `sql!` knows: {FORM}")),
    }
}

/// A key with dots, without spaces and quotes.
fn path(key: &str) -> String {
    key.split('.').map(|part| part.trim().trim_matches(['"', '\''])).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
#[path = "../tests/unit/manifest.rs"]
mod tests;
