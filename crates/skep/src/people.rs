//! Accounts: who is signed in, with which password, and what they may do. With the cargo feature `people`.
//!
//! The mechanism is here; tables and pages are the application's. Start with [`Account`], which makes a type of the application one that
//! signs in, and with the guards [`Signed`], [`Maybe`], [`Fresh`] and [`Allowed`]. The how-to guide is `docs/guides/accounts.md`.

mod account;
mod common;
mod gate;
mod password;
mod sign_in;

pub use account::{Account, Allowed, Fresh, Maybe, Rule, Signed};
pub use common::weakness;
pub use password::{PasswordCost, hash_password, verify_password};
pub use sign_in::{PasswordAccount, password_sign_in, return_to, sign_in, sign_out, sign_out_everywhere};
