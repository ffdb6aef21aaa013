//! Where the database of an application is, by its settings.

use std::fmt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::postgres;

/// A database.
#[derive(Debug, PartialEq)]
pub(super) enum Place {
    Sqlite {
        data: PathBuf,
        file: PathBuf,
    },
    /// The address of a PostgreSQL.
    Postgres(String),
}

impl Place {
    /// What the environment and `skep.toml` of a folder say.
    pub(super) fn find(folder: &Path) -> Result<Self, String> {
        let file = folder.join("skep.toml");
        let settings = if file.is_file() {
            std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?
        } else {
            String::new()
        };
        Ok(Self::of(folder, &settings, |name| std::env::var(name).ok().filter(|value| !value.is_empty())))
    }

    fn of(folder: &Path, settings: &str, variable: impl Fn(&str) -> Option<String>) -> Self {
        let setting = |name: &str, of: &str| variable(of).or_else(|| top_level(settings, name));
        match setting("database", "SKEP_DATABASE") {
            Some(address) if address.starts_with("postgres://") || address.starts_with("postgresql://") => {
                Self::Postgres(address)
            }
            _ => {
                let data = folder.join(setting("data", "SKEP_DATA").unwrap_or_else(|| "data".to_owned()));
                Self::Sqlite { file: data.join("database.sqlite"), data }
            }
        }
    }

    /// Why it cannot be deleted now.
    pub(super) fn is_in_use(&self) -> Option<String> {
        match self {
            // A server that runs listens there.
            Self::Sqlite { data, .. } => UnixStream::connect(data.join("control"))
                .is_ok()
                .then(|| format!("a server uses {}: stop it, and `skep dev`, before", data.display())),
            Self::Postgres(address) => (!postgres::is_here(address))
                .then(|| format!("{self} is not on this machine: `reset` deletes no data elsewhere")),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { file, .. } => write!(f, "{}", file.display()),
            Self::Postgres(address) => f.write_str(&postgres::without_password(address).0),
        }
    }
}

/// The text of a key before the first section of a TOML file.
fn top_level(toml: &str, name: &str) -> Option<String> {
    let lines = toml.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let mut values = lines.filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        (key.trim() == name).then(|| value[1..].split(quote).next().unwrap_or_default().to_owned())
    });
    values.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_where_it_is() {
        let of = |toml: &str, variables: &[(&str, &str)]| {
            let find =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            Place::of(Path::new("shop"), toml, find).to_string()
        };
        assert_eq!(of("", &[]), "shop/data/database.sqlite");
        assert_eq!(of("# data = \"a\"\ndata = \"var\" # here\n[mail]\ndata = \"b\"", &[]), "shop/var/database.sqlite");
        assert_eq!(of("data = \"var\"", &[("SKEP_DATA", "/srv")]), "/srv/database.sqlite");
        let address = "database = \"postgres://shop:pass%40word@localhost/shop?sslmode=disable\"";
        assert_eq!(of(address, &[]), "postgres://shop@localhost/shop?sslmode=disable");
        assert_eq!(of(address, &[("SKEP_DATABASE", "postgresql:///x")]), "postgresql:///x");
    }

    #[test]
    fn no_data_is_deleted_elsewhere() {
        for (address, is_here) in [
            ("postgres:///shop?host=/var/run/postgresql", true),
            ("postgres://shop@localhost/shop", true),
            ("postgres://shop@127.0.0.1:5433/shop", true),
            ("postgres://shop@db.example.org/shop", false),
            ("postgres://shop@localhost,db.example.org/shop", false),
        ] {
            let place = Place::Postgres(address.to_owned());
            assert_eq!(place.is_in_use().is_none(), is_here, "{address}");
        }
    }
}
