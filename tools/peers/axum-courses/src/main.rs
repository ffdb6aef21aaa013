//! Two parts of `examples/courses` on axum, sqlx and askama: the list of courses with filters and pages, and booking
//! with a waiting list. Signing in, mails, and languages are left out: `x-account` is the number of the user.
//!
//! Run: `peer-axum-courses PORT DATABASE`. It ends on SIGTERM, by the signal's default.

mod booking;
mod list;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::Ipv4Addr;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use tokio::net::TcpListener;

const USAGE: &str = "usage: peer-axum-courses PORT DATABASE";

/// What a client gets instead of what it has asked for.
struct Failure(StatusCode, &'static str);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        eprintln!("{error}");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong on our side")
    }
}

type Answer<T> = Result<T, Failure>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let database = arguments.next().expect(USAGE);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(port, &database))
}

async fn serve(port: u16, database: &str) -> Result<(), Box<dyn Error>> {
    let options = SqliteConnectOptions::new().filename(database).create_if_missing(true).foreign_keys(true);
    let db = SqlitePool::connect_with(options).await?;
    sqlx::raw_sql(include_str!("../schema.sql")).execute(&db).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    Ok(axum::serve(listener, app(db)).await?)
}

fn app(db: SqlitePool) -> Router {
    Router::new()
        .route("/courses", get(list::list))
        .route("/courses/{id}", get(booking::show))
        .route("/courses/{id}/booking", post(booking::book))
        .route("/courses/{id}/booking/cancel", post(booking::cancel))
        .layer(middleware::from_fn(refuse_other_sites))
        .with_state(db)
}

/// What changes something comes from our own pages: no cross-site request forgery.
async fn refuse_other_sites(request: Request, next: Next) -> Response {
    let site = request.headers().get("sec-fetch-site").map(|site| site.as_bytes());
    if request.method().is_safe() || matches!(site, None | Some(b"same-origin" | b"none")) {
        return next.run(request).await;
    }
    Failure(StatusCode::FORBIDDEN, "this form is of another site").into_response()
}
