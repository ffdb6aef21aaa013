//! Texts that are taken once, and acts that are done once, stored beside the sessions: where all processes look, and
//! over restarts.
//!
//! Each stands under a digest of a name that is secret or says what was done, so who reads the store cannot use them.

use std::time::Duration;

use sha2::{Digest, Sha256};
use skep_cache::EntryPolicy;

use super::id::Name;
use super::store::{Sessions, Stored, Values, end};
use skep_http::error::Result;

/// The one value of such an entry.
const TEXT: &str = "\0token";

impl Sessions {
    fn token_name(&self, name: &str) -> Name {
        self.name_of(b"token\0", name)
    }

    /// An act is no token: who does something with the text of a token has not used it up.
    fn name_of(&self, kind: &[u8], name: &str) -> Name {
        let digest = Sha256::new().chain_update(kind).chain_update(&self.program).chain_update([0]);
        digest.chain_update(name).finalize().into()
    }

    /// Keeps a text for [`take_token`](Self::take_token).
    pub(crate) async fn keep_token(&self, name: &str, text: String, lasts: Duration) -> Result<()> {
        let (name, now) = (self.token_name(name), self.now());
        self.write(move |cache| async move {
            let stored = Stored::new(Values::from([(TEXT.to_owned(), text)]), now);
            super::store::set(&cache, &name, &EntryPolicy::new(lasts), &stored).await
        })
        .await
    }

    /// The text, which stays.
    pub(crate) async fn see_token(&self, name: &str) -> Result<Option<String>> {
        let name = self.token_name(name);
        let stored = self.read(move |cache| async move { cache.get(&name[..]).await }).await?;
        Ok(stored.and_then(|mut stored| stored.values.remove(TEXT)))
    }

    /// The text, for one of those who ask at the same time, and for nobody after.
    pub(crate) async fn take_token(&self, name: &str) -> Result<Option<String>> {
        let (name, now) = (self.token_name(name), self.now());
        let values = self.write(move |cache| async move { end(&cache, &name, now).await }).await?;
        Ok(values.and_then(|mut values| values.remove(TEXT)))
    }

    /// True for the first who asks within this time.
    pub(crate) async fn is_first(&self, act: &str, lasts: Duration) -> Result<bool> {
        let (name, now) = (self.name_of(b"act\0", act), self.now());
        self.write(move |cache| async move {
            let (mut is_first, policy) = (false, EntryPolicy::new(lasts));
            let noted = cache.update_with(&name[..], &policy, |old| {
                is_first = old.is_none();
                old.unwrap_or_else(|| Stored::new(Values::new(), now))
            });
            noted.await.map(|_| is_first)
        })
        .await
    }
}
