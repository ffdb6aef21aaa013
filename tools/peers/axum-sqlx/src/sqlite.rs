//! Rows from SQLite, as JSON and as a page.

use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use axum::{Json, Router};
use peer_data::{Fortune, ROWS, World, random};
use sqlx::SqlitePool;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::{Answer, failure};

const WORLD: &str = "select id, randomnumber from world where id = ?";

/// With sqlx's own pool (10 connections, each tested before it is used), or `tuned` to what suits one core: one
/// connection, not tested.
pub(crate) async fn app(address: &str, tuned: bool) -> sqlx::Result<Router> {
    let options: SqliteConnectOptions = address.parse()?;
    let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Normal);
    let pool = SqlitePoolOptions::new();
    let pool = if tuned { pool.max_connections(1).test_before_acquire(false) } else { pool };
    let app = Router::new()
        .route("/db", get(db))
        .route("/queries", get(queries))
        .route("/fortunes", get(fortunes))
        .route("/updates", get(updates));
    Ok(app.with_state(pool.connect_with(options).await?))
}

async fn db(State(pool): State<SqlitePool>) -> Answer<Json<World>> {
    let mut connection = pool.acquire().await.map_err(failure)?;
    world(&mut connection).await.map(Json).map_err(failure)
}

async fn queries(State(pool): State<SqlitePool>) -> Answer<Json<Vec<World>>> {
    let mut connection = pool.acquire().await.map_err(failure)?;
    worlds(&mut connection).await.map(Json).map_err(failure)
}

async fn fortunes(State(pool): State<SqlitePool>) -> Answer<Html<String>> {
    let rows = sqlx::query_as("select id, message from fortune").fetch_all(&pool).await.map_err(failure)?;
    let fortunes = rows.into_iter().map(|(id, message)| Fortune { id, message }).collect();
    peer_data::fortunes(fortunes).map(Html).map_err(failure)
}

async fn updates(State(pool): State<SqlitePool>) -> Answer<Json<Vec<World>>> {
    update(&pool).await.map(Json).map_err(failure)
}

/// The writer's lock is taken first: a transaction that reads and then writes may find that somebody else has written.
async fn update(pool: &SqlitePool) -> sqlx::Result<Vec<World>> {
    let mut transaction = pool.begin_with("begin immediate").await?;
    let mut rows = worlds(&mut transaction).await?;
    for row in &mut rows {
        row.number = random();
        let update = sqlx::query("update world set randomnumber = ? where id = ?").bind(row.number).bind(row.id);
        update.execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(rows)
}

async fn worlds(connection: &mut SqliteConnection) -> sqlx::Result<Vec<World>> {
    let mut rows = Vec::with_capacity(ROWS);
    for _ in 0..ROWS {
        rows.push(world(connection).await?);
    }
    Ok(rows)
}

async fn world(connection: &mut SqliteConnection) -> sqlx::Result<World> {
    let (id, number) = sqlx::query_as(WORLD).bind(random()).fetch_one(connection).await?;
    Ok(World { id, number })
}
