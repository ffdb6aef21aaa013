//! The list, from PostgreSQL.

use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use peer_data::{Article, PER_PAGE};
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use crate::{Answer, failure};

const NEWEST: &str =
    "select slug, title, summary, published, tags from article order by published desc, id desc limit $1";

/// With sqlx's own pool (10 connections, each tested before it is used), or `tuned`: not tested.
pub(crate) async fn app(address: &str, tuned: bool) -> sqlx::Result<Router> {
    let pool = PgPoolOptions::new().test_before_acquire(!tuned).connect(address).await?;
    Ok(Router::new().route("/list", get(list)).with_state(pool))
}

async fn list(State(pool): State<PgPool>) -> Answer<Html<String>> {
    let (articles, count) = newest(&pool).await.map_err(failure)?;
    peer_data::list(&articles, count).map(Html).map_err(failure)
}

/// The newest articles and the number of all, over one connection.
async fn newest(pool: &PgPool) -> sqlx::Result<(Vec<Article>, i64)> {
    let mut connection = pool.acquire().await?;
    let rows: Vec<(String, String, String, String, String)> =
        sqlx::query_as(NEWEST).bind(PER_PAGE).fetch_all(&mut *connection).await?;
    let count = sqlx::query_scalar("select count(*) from article").fetch_one(&mut *connection).await?;
    let article = |(slug, title, summary, published, tags)| Article { slug, title, summary, published, tags };
    Ok((rows.into_iter().map(article).collect(), count))
}
