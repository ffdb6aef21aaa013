//! Accounts for [`skep`]: who is signed in, how they prove it, and what they may do.
//!
//! Tables are the application's. Start with [`derive(Account)`](derive@Account), which makes a row one that signs in,
//! with its [`pages`], and with the guards [`Signed`], [`Maybe`], [`Fresh`] and [`Allowed`]. The how-to guide is
//! `docs/guides/people/accounts.md`.

mod account;
mod account_mail;
mod bearer;
mod budget;
mod common;
mod cost;
mod device;
mod entrance;
mod event;
mod gate;
mod guides;
mod known;
mod link;
mod messages;
mod notice;
#[cfg(feature = "oidc")]
pub mod oidc;
pub mod pages;
#[cfg(feature = "passkeys")]
pub mod passkeys;
mod password;
mod random;
mod remember;
mod rule;
mod second;
mod sign_in;
#[cfg(any(feature = "oidc", feature = "passkeys"))]
mod signature;
mod site;
mod stamp;
#[cfg(all(feature = "test", not(target_family = "wasm")))]
pub mod test;
mod tick;
mod totp;

pub use account::{Account, Allowed, Fresh, Maybe, Rule, Signed};
pub use bearer::{AccessToken, Bearer, SignedOrBearer, TokenAccount};
pub use common::{Weakness, weakness};
pub use cost::PasswordCost;
pub use device::{UserSession, end_session, user_sessions};
pub use event::{EventKind, SecurityEvent, SecurityLog, record, without_tokens};
pub use link::{
    MailAccount, redeem_confirmation_link, redeem_reset_link, redeem_sign_in_link, redeem_sign_up_link,
    reset_link_account, send_confirmation_link, send_reset_link, send_sign_in_link, send_sign_up_link, sign_up_address,
};
pub use messages::{AccountLanguages, AccountMessages, PageMessages};
pub use notice::{Notice, Notices};
pub use password::{hash_password, verify_password};
pub use remember::remember;
pub use second::{TotpAccount, awaiting_second_factor, confirm_totp, second_factor_sign_in};
pub use sign_in::{
    PasswordAccount, change_password, password_sign_in, prove_password, return_to, sign_in, sign_out,
    sign_out_everywhere,
};
pub use site::HashPassword;
pub use skep::session::OneTimeToken;
/// Makes a row of the application's table an account: [`Account`](trait@Account), with an address [`MailAccount`], with
/// a password [`PasswordAccount`]. Statements are checked as by `sql!`, on both databases.
///
/// ```
/// use skep::prelude::*;
/// use skep::sql::Row;
/// use skep_people::Account;
///
/// #[derive(Row, Account)]
/// #[account(table = "user", filter = "not locked")]
/// # #[account(migrations = "tests/sql/people")]
/// struct User {
///     id: i64,
///     email: String,
///     password: Option<String>,
///     random: String,
/// }
/// ```
///
/// | field, by its name or `#[account(NAME)]` | what it is |
/// |---|---|
/// | `id` | what identifies the account, of a type with `FromStr` and `Display` |
/// | `email` | its address, unique, stored in lower case; what it signs in with, and where mails go |
/// | `name` | what the log calls it, if the attribute says so; without an address, what it signs in with, too |
/// | `password` | the [hash](hash_password), perhaps none: `String` or `Option<String>` |
/// | `random` | a random column: [`Account::stamp`] is made of it and of the password |
/// | `language` | [`Account::language`]: a text, or an enum with `derive(Param)` |
///
/// | `#[account(...)]` | what it says |
/// |---|---|
/// | `table = "user"` | its table |
/// | `filter = "not locked"` | which rows sign in; an address is taken by the others, too |
/// | `scope = "user_id"` | other tables name the account so: [`ScopeKind`](skep::guard::ScopeKind) |
/// | `tokens = "token"` | [`TokenAccount`], of this table: that column (or `TABLE_id`), `digest` and `stamp`; none expire |
/// | `kind = "agent"` | [`Account::KIND`] |
/// | `refuse = function`, `refuse_stale` | [`Account::refuse`], [`Account::refuse_stale`] |
/// | `has_second_factor = function` | [`Account::has_second_factor`] |
/// | `migrations = "folder"` | where migrations are, if not in `migrations` |
///
/// A column that the table does not have does not compile:
///
/// ```compile_fail
/// # use skep::sql::Row;
/// # use skep_people::Account;
/// #[derive(Row, Account)]
/// #[account(table = "user", filter = "not loked", migrations = "tests/sql/people")]
/// struct User {
///     id: i64,
///     email: String,
///     random: String,
/// }
/// ```
pub use skep_macros::Account;
pub use stamp::Stamp;
pub use totp::{RecoveryCodes, Totp, hash_recovery_code};
