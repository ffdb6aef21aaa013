//! Pages and JSON from a database, on Skep: PostgreSQL if the setting `database` says so, or SQLite.
//!
//! The runner makes the tables and their rows (`tools/runner/src/site/data.rs`). Statements that do not depend on each
//! other are sent together; on SQLite they run one after the other.
//!
//! It has the flags of every Skep application. Run:
//! `SKEP_DATABASE=ADDRESS skep-data --listen 127.0.0.1:PORT --data DIR`.

use std::process::ExitCode;

use skep::App;
use skep::sql::Migrations;

mod fortune;
mod list;
mod world;

/// None: the bench brings a database with tables and rows.
const MIGRATIONS: Migrations = Migrations::new(&[]).with_postgres(&Migrations::new(&[]));

fn main() -> ExitCode {
    skep_server::run(|| {
        App::new()
            .serve(skep::services![list::List, list::Writing, list::Tagged])
            .serve(skep::services![world::Db, world::Queries, world::Updates, fortune::Fortunes])
            .database(MIGRATIONS)
    })
}
