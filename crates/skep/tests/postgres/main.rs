//! PostgreSQL, on real servers: `cargo xtask test external`.

mod app;
mod arrays;
mod encrypted;
mod faults;
mod hang;
mod interleaved;
mod listen;
mod migrations;
mod named;
mod pgbouncer;
mod replica;
mod typed;
mod unfit;
mod verbs;

use std::sync::{Arc, OnceLock};

use skep::offload::Inline;
use skep::sql::{Database, Local, Migration, Migrations, Options};
use skep_cluster::Cluster;

use tokio::runtime::LocalOptions;

const FOR_POSTGRES: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_pairs.sql",
    "create table pair (key bigint primary key, value text not null check (value <> ''));
     create table child (pair bigint not null references pair (key));",
)]);

pub(crate) const MIGRATIONS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_pairs.sql", "create table pair (key integer primary key)")])
        .with_postgres(&FOR_POSTGRES);

/// One for all tests that do it no harm. It ends with the process.
pub(crate) fn shared() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

pub(crate) fn database(cluster: &Cluster, options: Options) -> Database {
    Database::temporary_postgres(&cluster.address(), &MIGRATIONS, options, Arc::new(Inline)).unwrap()
}

/// Runs `test` as a handler of a thread is run.
pub(crate) fn with<F: Future>(cluster: &Cluster, options: Options, test: impl FnOnce(Local) -> F) -> F::Output {
    let database = database(cluster, options);
    on_runtime(async { test(database.local()).await })
}

pub(crate) fn on_runtime<F: Future>(work: F) -> F::Output {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(work)
}
