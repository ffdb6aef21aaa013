//! Where the database of an application is, by its settings.

use std::fmt;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::address::Address;

/// A database, and what is known of the application that it is of.
#[derive(Debug, PartialEq)]
pub(crate) struct Target {
    pub(super) database: Database,
    /// The file of SQLite in the data folder, whether it is this database or not.
    pub(super) file: PathBuf,
    is_development: bool,
    /// The socket on which a server listens while it runs.
    control: PathBuf,
}

#[derive(Debug, PartialEq)]
pub(super) enum Database {
    /// The file.
    Sqlite(PathBuf),
    Postgres(Address),
}

impl Target {
    /// What the environment and `skep.toml` of a folder say.
    pub(crate) fn find(folder: &Path) -> Result<Self, String> {
        let file = folder.join("skep.toml");
        let settings = if file.is_file() {
            std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?
        } else {
            String::new()
        };
        Self::of(folder, &settings, |name| std::env::var(name).ok())
    }

    fn of(folder: &Path, settings: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let setting = |name: &str| {
            let value = variable(&format!("SKEP_{}", name.to_uppercase())).or_else(|| top_level(settings, name));
            value.filter(|value| !value.is_empty())
        };
        let data = folder.join(setting("data").unwrap_or_else(|| "data".to_owned()));
        let database = match setting("database") {
            Some(address) if address.starts_with("postgres://") || address.starts_with("postgresql://") => {
                let address = Address::parse(&address);
                Database::Postgres(address.map_err(|error| format!("the address of the database: {error}"))?)
            }
            _ => Database::Sqlite(data.join("database.sqlite")),
        };
        Ok(Self {
            database,
            file: data.join("database.sqlite"),
            is_development: setting("development").as_deref() == Some("true"),
            control: setting("control").map_or_else(|| data.join("control"), |path| folder.join(path)),
        })
    }

    /// Whether data may be changed here by `command`, which is for development.
    pub(super) fn may_change(&self, command: &str) -> Result<(), String> {
        if !self.is_development {
            return Err(format!(
                "`{command}` is for development, and no setting says that this is: skep.toml has no `development = true`, \
                 and the environment no SKEP_DEVELOPMENT"
            ));
        }
        match &self.database {
            Database::Postgres(address) if !address.is_here() => {
                Err(format!("{self} does not say that it is on this machine: `{command}` changes no data elsewhere"))
            }
            _ => Ok(()),
        }
    }

    /// The socket of a server that runs with these settings.
    pub(crate) fn server(&self) -> Option<&Path> {
        let answers = match UnixStream::connect(&self.control) {
            Ok(_) => true,
            // That of another user.
            Err(error) => error.kind() == ErrorKind::PermissionDenied,
        };
        answers.then_some(&self.control)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.database {
            Database::Sqlite(file) => write!(f, "{}", file.display()),
            Database::Postgres(address) => address.fmt(f),
        }
    }
}

/// The text, or the word, of a key before the first section of a TOML file.
fn top_level(toml: &str, name: &str) -> Option<String> {
    let lines = toml.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let mut values = lines.filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim().trim_matches(['"', '\'']), value.trim());
        let text = match value.chars().next().filter(|quote| ['"', '\''].contains(quote)) {
            Some(quote) => value[1..].split(quote).next(),
            None => value.split('#').next().map(str::trim),
        };
        (key == name).then(|| text.unwrap_or_default().to_owned())
    });
    values.next()
}

#[cfg(test)]
#[path = "../../tests/unit/db/target.rs"]
mod tests;
