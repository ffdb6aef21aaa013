//! The application: what it serves, and what that needs.

mod layout;
pub mod note;

use skep::prelude::*;
use skep::sql::migrations;

skep::assets!(
    /// The style sheet and the icon.
    pub Static = "static" at "/static");

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .database(migrations!("migrations"))
        .files("/static", Static::files())
        .error_page(layout::error_page)
        .serve(services![
            note::Notes,
            note::Show,
            note::Edit,
            note::Save,
            note::Delete
        ])
}
