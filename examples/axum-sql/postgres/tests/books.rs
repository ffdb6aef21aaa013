//! The application on PostgreSQL: `cargo xtask test external`.

#[path = "../../tests/books/requests.rs"]
mod requests;

use std::sync::{Arc, OnceLock};

use axum_sql::MIGRATIONS;
use skep_cluster::Cluster;
use skep_sql::offload::Tokio;
use skep_sql::{Database, Options};

/// A new database in a cluster that ends with the process.
fn database() -> Database {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    let address = CLUSTER.get_or_init(Cluster::start).address();
    Database::temporary_postgres(&address, &MIGRATIONS, Options::new(), Arc::new(Tokio::current())).unwrap()
}

requests::tests!(database, #[ignore = "needs PostgreSQL"]);
