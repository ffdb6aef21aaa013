//! What an application stores of passkeys.

use crate::Account;
use skep::Cx;
use skep::Result;
use skep::sql::Row;

/// A passkey, as it is stored: nothing in it is secret. A column for each field.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
#[expect(clippy::exhaustive_structs, reason = "an application makes it from its row")]
pub struct Passkey {
    /// What the authenticator calls it, in base64url: the key of its row. No two users have the same.
    pub id: String,
    /// The public key, in base64url.
    pub public_key: String,
    /// How often it was used, if the authenticator counts.
    pub counter: u32,
    /// The authenticator verified its user when the passkey was made: only then it is a first factor.
    pub verifies_user: bool,
}

/// What a passkey is for.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "there is no third factor")]
pub enum Factor {
    /// It signs in alone: the authenticator keeps whose it is, and verifies its user by a PIN, a finger or a face.
    First,
    /// It comes after a password. Security keys that only have a button will do, too.
    Second,
}

/// An account that may have passkeys, in a table of the application.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`. [`Account::id`] goes to authenticators, so it must
/// tell nothing about the user, and have 48 bytes at most.
pub trait PasskeyAccount: Account {
    /// Its passkeys.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn passkeys(&self, cx: &Cx<'_>) -> Result<Vec<Passkey>>;

    /// Stores a new one under the name that the user gave it. False if there is one with this [`id`](Passkey::id), of
    /// any user: the column is unique, and `on conflict do nothing` inserts no row then.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn add_passkey(&self, cx: &Cx<'_>, passkey: &Passkey, name: &str) -> Result<bool>;

    /// Raises the counter of one of its passkeys, and says whether it went up: in one statement, such as
    /// `update passkey set counter = ?1 where id = ?2 and user = ?3 and counter < ?1`. So of two copies that are used
    /// at once, one is found out.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn raise_passkey_counter(&self, cx: &Cx<'_>, id: &str, counter: u32) -> Result<bool>;

    /// Deletes one of its passkeys, and says whether it had that: `delete from passkey where id = ? and user = ?`. It
    /// is called by [`remove_passkey`](super::remove_passkey), which records it.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn delete_passkey(&self, cx: &Cx<'_>, id: &str) -> Result<bool>;
}
