//! The posts' programs on axum, sqlx and askama: a hello, two counters, and a list from SQLite.
//!
//! Run: `peer-axum-posts PORT DATABASE`. It ends on SIGTERM, by the signal's default.

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use axum::serve::ListenerExt;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tokio::net::TcpListener;

const USAGE: &str = "usage: peer-axum-posts PORT DATABASE";

struct Article {
    slug: String,
    title: String,
    published: String,
    summary: String,
    /// With a space between them.
    tags: String,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page {
    articles: Vec<Article>,
}

type Answer<T> = Result<T, (StatusCode, String)>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let database = arguments.next().expect(USAGE);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(port, &database))
}

async fn serve(port: u16, database: &str) -> Result<(), Box<dyn Error>> {
    let db = SqlitePool::connect_with(SqliteConnectOptions::new().filename(database).read_only(true)).await?;
    let app = Router::new()
        .route("/hello", get(|| async { "Hello, world!" }))
        .route("/count", get(count))
        .route("/page", get(page))
        .route("/empty", get(empty))
        .with_state(db);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

async fn count() -> String {
    static SHARED: AtomicU64 = AtomicU64::new(0);
    let mut local = 0;
    local += 1;
    format!("static {}, local {local}\n", SHARED.fetch_add(1, Ordering::Relaxed) + 1)
}

async fn page(State(db): State<SqlitePool>) -> Answer<Html<String>> {
    list(&db, "select slug, title, published, summary, tags from article order by published desc limit 20").await
}

async fn empty(State(db): State<SqlitePool>) -> Answer<Html<String>> {
    list(&db, "select slug, title, published, summary, tags from blank order by published desc limit 20").await
}

async fn list(db: &SqlitePool, newest: &'static str) -> Answer<Html<String>> {
    let rows: Vec<(String, String, String, String, String)> =
        sqlx::query_as(newest).fetch_all(db).await.map_err(failure)?;
    let article = |(slug, title, published, summary, tags)| Article { slug, title, published, summary, tags };
    let articles = rows.into_iter().map(article).collect();
    Page { articles }.render().map(Html).map_err(failure)
}

fn failure(error: impl Error) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
