//! A database of PostgreSQL, by `psql`.

use std::process::Command;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::finish;

/// `psql` for an address. A password is no argument, which others on this machine can read.
pub(super) fn shell(address: &str) -> Command {
    let (address, password) = without_password(address);
    let mut psql = Command::new("psql");
    if let Some(password) = password {
        psql.env("PGPASSWORD", password);
    }
    psql.arg(address);
    psql
}

/// The address without its password, and the password.
pub(super) fn without_password(address: &str) -> (String, Option<String>) {
    let password = address.parse::<Config>().ok().and_then(|config| config.get_password().map(<[u8]>::to_vec));
    let Some((scheme, rest)) = address.split_once("://") else { return (address.to_owned(), None) };
    let (authority, path) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
    match authority.rsplit_once('@').and_then(|(user, host)| Some((user.split_once(':')?.0, host))) {
        Some((user, host)) => {
            let password = password.map(|password| String::from_utf8_lossy(&password).into_owned());
            (format!("{scheme}://{user}@{host}{path}"), password)
        }
        None => (address.to_owned(), None),
    }
}

/// True for a server on this machine.
pub(super) fn is_here(address: &str) -> bool {
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        Host::Unix(_) => true,
    };
    address.parse::<Config>().is_ok_and(|config| config.get_hosts().iter().all(is_local))
}

/// The address of the database `postgres` on the same server: nobody drops the one they are in.
fn beside(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("postgres", address));
    let (place, query) = rest.find('?').map_or((rest, ""), |at| rest.split_at(at));
    let authority = place.split('/').next().unwrap_or_default();
    format!("{scheme}://{authority}/postgres{query}")
}

/// Drops the database, and makes an empty one of its name.
pub(super) fn make_again(address: &str) -> Result<(), String> {
    let config: Config = address.parse().map_err(|error| format!("the address of the database: {error}"))?;
    let name = config.get_dbname().ok_or("the address does not name a database")?;
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    for statement in [format!("drop database if exists {quoted} with (force)"), format!("create database {quoted}")] {
        let mut psql = shell(&beside(address));
        finish(psql.args(["--quiet", "--set=ON_ERROR_STOP=1", "--command", &statement]))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_dropped_from_the_one_beside_it() {
        assert_eq!(
            beside("postgres://a:b@localhost:5433/shop?sslmode=disable"),
            "postgres://a:b@localhost:5433/postgres?sslmode=disable"
        );
        assert_eq!(beside("postgres:///shop?host=/run/postgresql"), "postgres:///postgres?host=/run/postgresql");
    }

    #[test]
    fn a_password_is_no_argument() {
        let (address, password) = without_password("postgres://shop:a%40b@localhost/shop");
        assert_eq!((address.as_str(), password.as_deref()), ("postgres://shop@localhost/shop", Some("a@b")));
        assert_eq!(without_password("postgres://shop@localhost/shop").1, None);
    }
}
