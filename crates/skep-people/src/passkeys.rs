//! Passkeys: signing in with a key that a device or a security key keeps (W3C Web Authentication, level 3). With the
//! cargo feature `passkeys`.
//!
//! Each ceremony has two steps. A `begin_…` function gives the options that the browser asks its authenticator with, as
//! JSON; a script hands them over and puts what comes back into a form. [`register`], [`passkey_sign_in`] and
//! [`passkey_second_factor`] verify that. Tables and pages are the application's: [`PasskeyAccount`]. The how-to guide
//! is `docs/guides/people/passkeys.md`.
//!
//! No attestation is asked for: which make an authenticator is of is nobody's business here, so a statement about it is
//! not read.
//!
//! Start reading at [`passkey_sign_in`]; `verify` has what is asked of a response, step by step, `key` which signatures
//! count.

mod account;
mod authenticator;
mod ceremony;
mod error;
mod key;
mod pending;
mod verify;

pub use account::{Factor, Passkey, PasskeyAccount};
pub use ceremony::{
    begin_registration, begin_second_factor, begin_sign_in, passkey_second_factor, passkey_sign_in, register,
    remove_passkey,
};
pub use error::PasskeyError;
pub use pending::are_possible;
