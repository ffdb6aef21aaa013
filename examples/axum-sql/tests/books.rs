//! The application on SQLite.

#[path = "books/requests.rs"]
mod requests;

use std::sync::Arc;

use axum_sql::MIGRATIONS;
use skep_sql::Database;
use skep_sql::offload::Tokio;

fn database() -> Database {
    Database::temporary(&MIGRATIONS, Arc::new(Tokio::current())).unwrap()
}

requests::tests!(database,);
