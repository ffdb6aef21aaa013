//! Pages and JSON with axum, sqlx and askama: the list from PostgreSQL, the rest from SQLite.
//!
//! It has no log, no session, no compression, and one thread for everything but SQLite, which sqlx gives threads.
//!
//! Run: `peer-axum-sqlx PORT ADDRESS [tuned]`, with `postgres://...` or `sqlite://FILE`. It ends on SIGTERM, by the
//! signal's default.

mod postgres;
mod sqlite;

use std::error::Error;
use std::fmt::Display;
use std::net::Ipv4Addr;

use axum::Router;
use axum::http::StatusCode;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

const USAGE: &str = "usage: peer-axum-sqlx PORT ADDRESS [tuned]";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let address = arguments.next().expect(USAGE);
    let is_tuned = arguments.next().is_some_and(|word| word == "tuned");
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let app = if address.starts_with("sqlite:") {
            sqlite::app(&address, is_tuned).await?
        } else {
            postgres::app(&address, is_tuned).await?
        };
        serve(port, app).await
    })
}

async fn serve(port: u16, app: Router) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

type Answer<T> = Result<T, (StatusCode, String)>;

fn failure(error: impl Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
