//! Accounts outside of requests.

#[cfg(target_family = "wasm")]
use skep::Error;
use skep::{Result, Site};

use crate::password::{Salt, hash_now, salt};

/// Passwords for code that may block, such as for a first account at the start.
pub trait HashPassword {
    /// Hashes a password. In a request, [`hash_password`](crate::hash_password) does it. A component may do it while it
    /// starts, if it has a database.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep_people::HashPassword;
    ///
    /// let app = App::new().on_start(|site| {
    ///     assert!(site.hash_password("correct horse")?.starts_with("$argon2id"));
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    fn hash_password(&self, password: &str) -> Result<String>;
}

impl HashPassword for Site {
    fn hash_password(&self, password: &str) -> Result<String> {
        hash_now(self.find_state().copied().unwrap_or_default(), password, &salt_of(self)?)
    }
}

#[cfg(not(target_family = "wasm"))]
fn salt_of(_site: &Site) -> Result<Salt> {
    salt()
}

/// Of the database, if there is one. Its host refuses start-up code that asks for random numbers, since what is in
/// memory then is in each instance; but a salt goes into the database, and is not used again.
#[cfg(target_family = "wasm")]
fn salt_of(site: &Site) -> Result<Salt> {
    if !site.has_database() {
        return salt();
    }
    site.db().random()?.try_into().map_err(|_| Error::internal("the database has no random numbers"))
}
