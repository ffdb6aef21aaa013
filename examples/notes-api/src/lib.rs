//! The application: what it serves, and what that needs.

pub mod note;

use skep::prelude::*;
use skep::sql::migrations;

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .database(migrations!("migrations"))
        .serve(services![
            note::List,
            note::Show,
            note::Create,
            note::Change,
            note::Delete
        ])
        .openapi("/openapi.json")
}
