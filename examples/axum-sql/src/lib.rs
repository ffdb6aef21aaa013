//! A library's books and who has them: an application of axum on `skep-sql`.
//!
//! Start reading at [`router`]. `book` has the statements, `page` the HTML, `error` the responses to requests that
//! fail. This source is compiled twice: by the package of this folder for SQLite, and by that of `postgres/` for
//! PostgreSQL.

mod book;
mod error;
mod page;

use axum::Router;
use axum::body::Body;
use axum::extract::{Form, Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use serde::Deserialize;
use skep_sql::{Database, Migrations, PageNumber, migrations};

use book::{Lent, NewBook};
use error::Failure;

/// The tables. They are in the executable, and run when the database is opened.
pub const MIGRATIONS: Migrations = migrations!("migrations");

/// The application. Its state is the database: cheap to clone, and its futures may go from thread to thread.
pub fn router(db: Database) -> Router {
    Router::new()
        .route("/", get(list).post(add))
        .route("/books/{id}", get(show))
        .route("/books/{id}/loans", post(lend))
        .route("/export.csv", get(export))
        .with_state(db)
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default = "first")]
    page: u32,
}

fn first() -> u32 {
    1
}

async fn list(State(db): State<Database>, Query(listed): Query<Listed>) -> Result<Html<String>, Failure> {
    let page = PageNumber::new(listed.page).ok_or(Failure::NotFound)?;
    Ok(page::list(&book::list(&db, page).await?))
}

async fn add(State(db): State<Database>, Form(book): Form<NewBook>) -> Result<Redirect, Failure> {
    let id = book::add(&db, &book).await?;
    Ok(Redirect::to(&format!("/books/{id}")))
}

async fn show(State(db): State<Database>, Path(id): Path<i64>) -> Result<Html<String>, Failure> {
    let book = book::find(&db, id).await?.ok_or(Failure::NotFound)?;
    Ok(page::book(&book, &book::readers(&db, id).await?))
}

#[derive(Deserialize)]
struct Reader {
    reader: String,
}

async fn lend(
    State(db): State<Database>,
    Path(id): Path<i64>,
    Form(Reader { reader }): Form<Reader>,
) -> Result<Redirect, Failure> {
    match book::lend(&db, id, &reader).await? {
        Lent::Yes => Ok(Redirect::to(&format!("/books/{id}"))),
        Lent::NoCopyLeft => Err(Failure::Conflict("all copies are lent")),
    }
}

/// Each row goes to the client as it is read: memory does not grow with the table.
async fn export(State(db): State<Database>) -> Result<Response, Failure> {
    let lines = book::export(&db).await?.map(|row| row.map(|row| row.csv()));
    Ok(([(CONTENT_TYPE, "text/csv")], Body::from_stream(lines)).into_response())
}
