//! The application on SQLite: `cargo run -p axum-sql`, then <http://127.0.0.1:3000>. Its file is `books.sqlite`.

use std::error::Error;
use std::sync::Arc;

use skep_sql::offload::Tokio;
use skep_sql::{Database, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let db = Database::open("books.sqlite", &axum_sql::MIGRATIONS, Options::new(), Arc::new(Tokio::current()))?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, axum_sql::router(db)).await?)
}
