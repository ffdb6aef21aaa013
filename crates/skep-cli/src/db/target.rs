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
mod tests {
    use super::*;

    fn of(toml: &str, variables: &[(&str, &str)]) -> Target {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Target::of(Path::new("shop"), toml, find).unwrap()
    }

    #[test]
    fn settings_say_where_it_is() {
        let target = |toml: &str, variables: &[(&str, &str)]| of(toml, variables).to_string();
        assert_eq!(target("", &[]), "shop/data/database.sqlite");
        let settings = "# data = \"a\"\ndata = \"var\" # here\n[mail]\ndata = \"b\"";
        assert_eq!(target(settings, &[]), "shop/var/database.sqlite");
        assert_eq!(target("data = \"var\"", &[("SKEP_DATA", "/srv")]), "/srv/database.sqlite");
        let address = "database = \"postgres://shop:pass%40word@localhost/shop?sslmode=disable\"";
        assert_eq!(target(address, &[]), "postgres://shop@localhost/shop?sslmode=disable");
        assert_eq!(target(address, &[("SKEP_DATABASE", "postgresql:///x")]), "postgres:///x");
    }

    #[test]
    fn a_server_listens_where_the_settings_say() {
        let address = "database = \"postgres:///x?host=/run\"\n";
        assert_eq!(of(address, &[]).control, Path::new("shop/data/control"));
        assert_eq!(of(&format!("{address}control = '/run/a'"), &[]).control, Path::new("/run/a"));
        assert_eq!(of("data = 'var'", &[("SKEP_CONTROL", "c")]).control, Path::new("shop/c"));
    }

    #[test]
    fn data_is_changed_only_in_development_and_only_here() {
        let refused = |toml: &str, variables| of(toml, variables).may_change("seed").err().unwrap_or_default();
        assert_eq!(refused("development = true # for now", &[]), "");
        assert_eq!(refused("", &[("SKEP_DEVELOPMENT", "true")]), "");
        for toml in ["", "development = false", "# development = true", "[log]\ndevelopment = true"] {
            assert!(refused(toml, &[]).contains("no `development = true`"), "{toml}");
        }
        assert!(refused("development = true", &[("SKEP_DEVELOPMENT", "false")]).contains("is for development"));
        let elsewhere = "development = true\ndatabase = 'postgres://db.example.org/shop'";
        assert!(refused(elsewhere, &[]).contains("changes no data elsewhere"));
    }
}
