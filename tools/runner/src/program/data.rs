//! The programs of the experiments with a database.

use std::process::Command;

use super::posts::{puma, rails_gems};
use super::{Mpm, Program, StartOptions, skep};
use crate::Result;
use crate::build::Need;
use crate::need::Made;
use crate::site::Site;
use crate::site::data::{Database, sqlite};

/// As many connections as sqlx's pool has by default, for the others, too. Skep has 4 by default, which its requests
/// share.
const CONNECTIONS: &str = "10";

impl Program {
    /// The database that it reads, of those that are made for a program.
    pub(crate) fn database(self) -> Option<Database> {
        match self {
            Self::SkepData(database) | Self::AxumSqlx { database, .. } | Self::RailsData(database) => Some(database),
            Self::AxumPostgres | Self::ActixPostgres | Self::GoPgx => Some(Database::Postgres),
            _ => None,
        }
    }

    pub(super) fn data_needs(self) -> Vec<Need> {
        let mut needs = match self {
            Self::AxumSqlx { .. } => vec![Need::Peer("peer-axum-sqlx")],
            Self::AxumPostgres => vec![Need::Peer("peer-axum-postgres")],
            Self::ActixPostgres => vec![Need::Peer("peer-actix-postgres")],
            Self::GoPgx => vec![Need::Made(Made::GoPgx)],
            Self::RailsData(database) => rails_gems(database),
            _ => vec![Need::Ours("skep-data")],
        };
        needs.push(if self.database() == Some(Database::Sqlite) { Need::SQLITE } else { Need::POSTGRES });
        needs
    }
}

pub(super) fn command(program: Program, command: &mut Command, place: &StartOptions, site: &Site) -> Result<()> {
    match program {
        Program::SkepData(database) => {
            skep(command, place, Mpm::Alone, false);
            if database == Database::Postgres {
                command.env("SKEP_DATABASE", site.data_address(&place.dir)?);
            }
        }
        Program::AxumSqlx { database, tuned } => {
            let address = match database {
                Database::Postgres => site.data_address(&place.dir)?,
                Database::Sqlite => format!("sqlite://{}", sqlite(&place.dir).display()),
            };
            command.args([place.port.to_string(), address]).args(tuned.then_some("tuned"));
        }
        Program::RailsData(database) => {
            let address = match database {
                Database::Postgres => format!("{}&pool={CONNECTIONS}", site.data_address(&place.dir)?),
                Database::Sqlite => format!("sqlite3:{}?pool={CONNECTIONS}", sqlite(&place.dir).display()),
            };
            command.env("DATA_ADDRESS", address).env("RUBY_YJIT_ENABLE", "1");
            puma(command, place.port, 0, CONNECTIONS, "rails/data.ru");
        }
        _ => {
            command.env("GOMAXPROCS", "1");
            command.args([place.port.to_string(), site.data_address(&place.dir)?, CONNECTIONS.into()]);
        }
    }
    Ok(())
}
