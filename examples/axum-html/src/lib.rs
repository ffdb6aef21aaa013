//! A guest book: an application of axum whose pages are made by `skep-html`.
//!
//! Start reading at [`router`]. `page` has the HTML, `layout` what is around it, `book` the entries, which are in
//! memory.

mod book;
mod layout;
mod page;

use axum::Router;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use skep_html::Destination as _;

use book::{Book, NewEntry};
use page::To;

/// The application, with an empty book.
pub fn router() -> Router {
    Router::new()
        .route("/", get(list).post(add))
        .route("/entries/{number}", get(show))
        .fallback(async || not_found())
        .with_state(Book::default())
}

async fn list(State(book): State<Book>) -> Response {
    layout::respond(|| page::list(&book.entries(), &NewEntry::default(), None))
}

async fn show(State(book): State<Book>, Path(number): Path<usize>) -> Response {
    match book.find(number) {
        Some(entry) => layout::respond(|| page::entry(&entry)),
        None => not_found(),
    }
}

/// What is wrong is shown beside its field, with all that was typed.
async fn add(State(book): State<Book>, Form(new): Form<NewEntry>) -> Response {
    if let Some(wrong) = new.wrong() {
        let page = layout::respond(|| page::list(&book.entries(), &new, Some(wrong)));
        return (StatusCode::UNPROCESSABLE_ENTITY, page).into_response();
    }
    let number = book.add(new);
    Redirect::to(&To::List.at(page::anchor(number)).url()).into_response()
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, layout::respond(page::not_found)).into_response()
}
