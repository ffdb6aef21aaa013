//! Accounts outside of requests.

use super::Site;
#[cfg(target_family = "wasm")]
use crate::error::Error;
use crate::people;
use crate::response::Result;

impl Site {
    /// Hashes a password for code that may block, such as for a first account at the start. In a request,
    /// [`hash_password`](crate::people::hash_password) does it. A component may do it while it starts, if it has a database.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let app = App::new().on_start(|site| {
    ///     assert!(site.hash_password("correct horse")?.starts_with("$argon2id"));
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    pub fn hash_password(&self, password: &str) -> Result<String> {
        people::hash_now(self.resources.find_value().copied().unwrap_or_default(), password, &self.salt()?)
    }

    #[cfg(not(target_family = "wasm"))]
    #[expect(clippy::unused_self, reason = "a component asks its database")]
    fn salt(&self) -> Result<people::Salt> {
        people::salt()
    }

    /// Of the database, if there is one. Its host refuses start-up code that asks for random numbers, since what is in memory then is in
    /// each instance; but a salt goes into the database, and is not used again.
    #[cfg(target_family = "wasm")]
    fn salt(&self) -> Result<people::Salt> {
        let Some(database) = &self.resources.database else { return people::salt() };
        database.random()?.try_into().map_err(|_| Error::internal("the database has no random numbers"))
    }
}
