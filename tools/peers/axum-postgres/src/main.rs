//! Pages and JSON from PostgreSQL with axum, tokio-postgres, deadpool and askama.
//!
//! It has no log, no session, no compression, and one thread.
//!
//! Run: `peer-axum-postgres PORT ADDRESS CONNECTIONS`. It ends on SIGTERM, by the signal's default.

use std::error::Error;
use std::fmt::Display;
use std::net::Ipv4Addr;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use peer_data::World;
use peer_data::postgres::Store;
use tokio::net::TcpListener;

const USAGE: &str = "usage: peer-axum-postgres PORT ADDRESS CONNECTIONS";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let address = arguments.next().expect(USAGE);
    let connections = arguments.next().and_then(|number| number.parse().ok()).expect(USAGE);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let store = Store::open(&address, connections).map_err(|error| error.to_string())?;
        serve(port, store).await
    })
}

type Answer<T> = Result<T, (StatusCode, String)>;

async fn serve(port: u16, store: Store) -> Result<(), Box<dyn Error>> {
    let app = Router::new()
        .route("/list", get(list))
        .route("/db", get(db))
        .route("/queries", get(queries))
        .route("/fortunes", get(fortunes))
        .route("/updates", get(updates))
        .with_state(store);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

async fn list(State(store): State<Store>) -> Answer<Html<String>> {
    let (articles, count) = store.newest().await.map_err(failure)?;
    peer_data::list(&articles, count).map(Html).map_err(failure)
}

async fn db(State(store): State<Store>) -> Answer<Json<World>> {
    store.world().await.map(Json).map_err(failure)
}

async fn queries(State(store): State<Store>) -> Answer<Json<Vec<World>>> {
    store.worlds().await.map(Json).map_err(failure)
}

async fn fortunes(State(store): State<Store>) -> Answer<Html<String>> {
    let fortunes = store.fortunes().await.map_err(failure)?;
    peer_data::fortunes(fortunes).map(Html).map_err(failure)
}

async fn updates(State(store): State<Store>) -> Answer<Json<Vec<World>>> {
    store.update().await.map(Json).map_err(failure)
}

fn failure(error: impl Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
