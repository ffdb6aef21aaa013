//! The application: what it serves, and what that needs.

pub mod account;
mod layout;
pub mod note;
pub mod sign_in;
pub mod sign_up;

use skep::prelude::*;
use skep::sql::migrations;
use skep_people::Signed;

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
        .serve(services![
            sign_in::Home,
            sign_in::SignInPage,
            sign_in::SignIn,
            sign_in::SignOut
        ])
        .serve(services![
            sign_up::SignUpPage,
            sign_up::SignUp,
            sign_up::LinkSent,
            sign_up::PasswordPage,
            sign_up::ChoosePassword
        ])
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
