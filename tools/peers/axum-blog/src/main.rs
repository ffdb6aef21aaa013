//! The blog's list page from axum, sqlx and askama: what a Rust programmer would write today without Skep.
//!
//! `/` does the whole work. `/sql` asks the database and shows nothing, `/html` renders rows kept from the start,
//! `/http` answers a page kept from the start: their differences are the split of `/`. It has no log, no session, no
//! compression, and one thread for everything but SQLite, which sqlx gives threads.
//!
//! Run: `peer-axum-blog PORT DIR [tuned]`. The database is DIR/axum-blog.db, made if it does not exist.
//! It ends on SIGTERM, by the signal's default.

mod page;
mod store;

use std::error::Error;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

use store::{List, Store};

const USAGE: &str = "usage: peer-axum-blog PORT DIR [tuned]";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let dir = arguments.next().map(PathBuf::from).expect(USAGE);
    let tuned = arguments.next().is_some_and(|word| word == "tuned");
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let store = Store::open(&dir.join("axum-blog.db"), tuned).await?;
        serve(port, store).await
    })
}

struct Site {
    store: Store,
    /// What the routes of the split start from.
    list: List,
    page: String,
}

type Answer<T> = Result<T, (StatusCode, String)>;

async fn serve(port: u16, store: Store) -> Result<(), Box<dyn Error>> {
    let list = store.newest().await?;
    let page = page::render(&list)?;
    let app = Router::new()
        .route("/", get(whole))
        .route("/sql", get(sql))
        .route("/html", get(html))
        .route("/http", get(http))
        .with_state(Arc::new(Site { store, list, page }));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

async fn whole(State(site): State<Arc<Site>>) -> Answer<Html<String>> {
    let list = site.store.newest().await.map_err(failure)?;
    page::render(&list).map(Html).map_err(failure)
}

async fn sql(State(site): State<Arc<Site>>) -> Answer<String> {
    let list = site.store.newest().await.map_err(failure)?;
    Ok(format!("{} of {}", list.articles.len(), list.count))
}

async fn html(State(site): State<Arc<Site>>) -> Answer<Html<String>> {
    page::render(&site.list).map(Html).map_err(failure)
}

async fn http(State(site): State<Arc<Site>>) -> Html<String> {
    Html(site.page.clone())
}

fn failure(error: impl Error) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
