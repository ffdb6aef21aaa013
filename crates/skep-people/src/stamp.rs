//! What tells an account from all others that ever had its id, and from itself before it had a new password.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use skep::Error;
use skep::Result;

/// Something random of an account's row: [`Account::stamp`](crate::Account::stamp). Only a digest of it leaves the
/// program.
///
/// ```
/// use skep_people::Stamp;
///
/// # struct User { random: String, password: Option<String> }
/// # let user = User { random: String::new(), password: None };
/// // An account that has a password for certain, or a random column:
/// # let (password, random) = ("$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$aGFzaA", "b2f5ff47436671b6");
/// let _ = (Stamp::of([password]), Stamp::of([random]));
/// // One that may have a password:
/// let _ = Stamp::of([&*user.random, user.password.as_deref().unwrap_or_default()]);
/// ```
///
/// A link that is sealed with it ends with it, too:
///
/// ```
/// use skep_people::Account;
/// use skep::prelude::*;
///
/// async fn opened<User: Account>(cx: &Cx<'_>, sealed: &str) -> Result<Option<User>> {
///     // It was sealed as `cx.seal("calendar", &(user.id(), user.stamp()), lasts)`.
///     let (id, stamp): (String, String) = cx.unseal("calendar", sealed)?.or_404()?;
///     Ok(User::find(cx, &id).await?.filter(|user| user.stamp().matches(&stamp)))
/// }
/// ```
///
/// Of the hash of a password only the salt counts, which is random: it changes with the password, and stays when the
/// same password is hashed at another cost.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Stamp {
    digest: String,
    /// The longest part, in bytes.
    longest: usize,
}

/// The fewest characters of something that nobody has twice: 64 random bits in hexadecimal.
const SHORTEST: usize = 16;

impl Stamp {
    /// A stamp of all of these texts. One of them at least is random, and has 16 characters or more. See [`Stamp`] for
    /// examples.
    pub fn of<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> Self {
        let (mut digest, mut longest) = (Sha256::new(), 0);
        for part in parts {
            let part = random_part(part.as_ref());
            // A component has another `usize`, and must come to the same.
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
            longest = longest.max(part.len());
        }
        Self { digest: URL_SAFE_NO_PAD.encode(&digest.finalize()[..16]), longest }
    }

    /// A stamp of both, which is as random as this one.
    pub(crate) fn and(&self, part: &str) -> Self {
        Self { longest: self.longest, ..Self::of([&*self.digest, part]) }
    }

    /// The digest, to be kept.
    ///
    /// # Errors
    /// If it has nothing in it that could be random: an account with no password, of which the application says only
    /// that.
    pub(crate) fn to_text(&self) -> Result<String> {
        if self.is_random() { Ok(self.digest.clone()) } else { Err(Error::internal(self.problem())) }
    }

    fn problem(&self) -> String {
        format!(
            "the longest part of this account's stamp has {} characters, and {SHORTEST} are random at the least: \
             give its table a random column, and name it in Account::stamp",
            self.longest
        )
    }

    /// False, with a line in the log, if nothing in it can be random.
    pub(crate) fn is_random(&self) -> bool {
        let is_random = self.longest >= SHORTEST;
        if !is_random {
            tracing::error!(target: "skep::security", "{}", self.problem());
        }
        is_random
    }

    /// True if this is what was kept of the stamp, such as [`AccessToken::stamp`](crate::AccessToken::stamp): for a
    /// list of tokens that still work. It takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, kept: &str) -> bool {
        let differ = self.digest.bytes().zip(kept.bytes()).fold(0, |differ, (one, other)| differ | (one ^ other));
        self.digest.len() == kept.len() && std::hint::black_box(differ) == 0
    }
}

/// The salt of a hash (`$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`); anything else as it is.
fn random_part(text: &str) -> &str {
    if text.starts_with("$argon2") { text.split('$').nth(4).unwrap_or(text) } else { text }
}

/// The digest, to be [sealed](skep::Cx::seal) with an account's id; what was sealed is compared by [`Stamp::matches`].
impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.digest)
    }
}

skep_units::opaque_debug!(Stamp);

#[cfg(test)]
#[path = "../tests/unit/stamp.rs"]
mod tests;
