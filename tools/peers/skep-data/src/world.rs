//! Rows by random numbers, as JSON.

use std::sync::LazyLock;

use futures_util::future::try_join_all;
use serde::Serialize;
use skep::prelude::*;
use skep::sql::{self, Query, Row, query, values};

/// How many rows are read, or read and written.
const ROWS: usize = 20;

/// One row.
#[derive(Service)]
#[service(GET "/db")]
pub(crate) struct Db;

/// As many as [`ROWS`] says, each by a statement of its own.
#[derive(Service)]
#[service(GET "/queries")]
pub(crate) struct Queries;

/// The same, with other numbers, which are written.
#[derive(Service)]
#[service(GET "/updates")]
pub(crate) struct Updates;

#[derive(Row, Serialize)]
struct World {
    id: i32,
    #[row(column = "randomnumber")]
    #[serde(rename = "randomNumber")]
    number: i32,
}

fn random() -> i32 {
    fastrand::i32(1..=10_000)
}

async fn world(db: &sql::Local) -> Result<World> {
    db.one(query("select id, randomnumber from world where id = ?", random())).await?.or_404()
}

async fn worlds(db: &sql::Local) -> Result<Vec<World>> {
    try_join_all((0..ROWS).map(|_| world(db))).await
}

impl Handle for Db {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Response::json(&world(cx.db()).await?)
    }
}

impl Handle for Queries {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Response::json(&worlds(cx.db()).await?)
    }
}

impl Handle for Updates {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut rows = worlds(cx.db()).await?;
        for row in &mut rows {
            row.number = random();
        }
        // In one order, so that no two requests wait for each other.
        rows.sort_unstable_by_key(|row| row.id);
        cx.db().execute(update(&rows)).await?;
        Response::json(&rows)
    }
}

/// The rows by their ids: in two arrays, or in a parameter for each number on SQLite, which has no arrays.
fn update(rows: &[World]) -> Query<'static> {
    static IS_POSTGRES: LazyLock<bool> =
        LazyLock::new(|| std::env::var("SKEP_DATABASE").is_ok_and(|address| address.starts_with("postgres")));
    static PAIRS: LazyLock<String> = LazyLock::new(|| {
        let pairs = ["(?, ?)"; ROWS].join(", ");
        format!(
            "update world set randomnumber = other.column2 from (values {pairs}) other where world.id = other.column1"
        )
    });
    if !*IS_POSTGRES {
        return query(&PAIRS, values(rows.iter().flat_map(|row| [row.id, row.number])));
    }
    let (ids, numbers): (Vec<_>, Vec<_>) = rows.iter().map(|row| (row.id, row.number)).unzip();
    let arrays = "update world set randomnumber = other.number
        from unnest(?::integer[], ?::integer[]) as other (id, number) where world.id = other.id";
    query(arrays, (ids, numbers))
}
