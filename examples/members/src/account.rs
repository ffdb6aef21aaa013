//! Who may sign in, and the pages for that.
//!
//! They are those of [`skep_people::pages`]: `lib.rs` mounts them, and here is how they look, where they lead and how
//! an account begins. To change one, leave out `sign_in_pages` or `sign_up_pages`, and write services by the functions
//! that those call: [`password_sign_in`](skep_people::password_sign_in),
//! [`send_sign_up_link`](skep_people::send_sign_up_link).
//!
//! In development, the mail with the link is in the log. For others, set `mail.smtp`, `mail.from` and `base_url`, and
//! turn on the feature `smtp` of `skep-server`.

use skep::link::Destination;
use skep::prelude::*;
use skep::sql::Row;
use skep_people::pages::{AccountPages, NewAccount, SignUpAccount};

use crate::layout::account_page;
use crate::note::Notes;

/// An account.
#[derive(Debug, Row, skep_people::Account)]
#[account(table = "account")]
pub struct Account {
    /// The key of its row.
    pub id: i64,
    /// What it signs in with, in lower case.
    pub email: String,
    password: String,
    random: String,
}

impl AccountPages for Account {
    async fn show(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
        account_page(cx, title, content).await
    }

    fn home() -> impl Destination {
        Notes { at: None }
    }
}

impl SignUpAccount for Account {
    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
        let insert = sql!(
            Account,
            "insert into account (email, password) values (?, ?) returning {columns of Account}",
            new.email,
            new.password_hash
        );
        cx.db().one(insert).await?.or_404()
    }
}
