//! Accounts outside of requests.

use super::Site;
use crate::people;
use crate::response::Result;

impl Site {
    /// Hashes a password for code that may block, such as for a first account at the start. In a request,
    /// [`hash_password`](crate::people::hash_password) does it.
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
        people::hash_now(self.resources.find_value().copied().unwrap_or_default(), password)
    }
}
