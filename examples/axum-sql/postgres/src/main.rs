//! The application on PostgreSQL: `DATABASE_URL=postgres://... cargo run -p axum-sql-postgres`, then
//! <http://127.0.0.1:3000>.

use std::error::Error;
use std::sync::Arc;

use skep_sql::offload::Tokio;
use skep_sql::{Database, Options};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::var("DATABASE_URL")?;
    // No other version of the program runs on this database: migrations may do more than add.
    let carefully = false;
    let pool = Arc::new(Tokio::current());
    let db = Database::open_postgres(&address, &axum_sql::MIGRATIONS, Options::new(), pool, carefully)?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, axum_sql::router(db)).await?)
}
