//! The application: what it serves, and what that needs.

pub mod account;
pub mod home;
mod layout;
pub mod note;

use skep::prelude::*;
use skep::sql::migrations;
use skep_people::Signed;
use skep_people::pages::AccountApp;

use crate::account::Account;

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
        .serve(services![home::Home])
        .sign_in_pages::<Account>()
        .sign_up_pages::<Account>()
        .serve(services![
            note::Notes,
            note::Show,
            note::Edit,
            note::Save,
            note::Delete
        ])
        .guard::<Signed<Account>>("/notes")
        // No service without somebody who is signed in, unless it says why.
        .require::<Signed<Account>>()
}
