//! What a provider says of a user.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::account::Account;
use crate::sign_in::sign_in_proved;
use skep::Cx;

/// What a provider says of a user, once it is verified that the provider says it, to this application, for this
/// sign-in.
///
/// [`issuer`](Self::issuer) and [`subject`](Self::subject) together are the user: store both with the account, and find
/// it by them. An address is no identity: it may be given to somebody else, and a provider that has not verified it
/// lets anybody name any address. [`verified_email`](Self::verified_email) is the only one to link an account by.
///
/// An example is at [`Provider`](super::Provider).
#[derive(Clone, Debug)]
pub struct Claims {
    said: Said,
    /// When the user last proved it to the provider, in milliseconds since 1970, if the provider says so.
    proved: Option<u64>,
}

/// The claims as they come, of which nothing is verified yet.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Said {
    #[serde(rename = "iss")]
    issuer: String,
    #[serde(rename = "sub")]
    subject: String,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Claims {
    /// Who says so: the issuer URL of the provider.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.said.issuer
    }

    /// Whom the provider means: an id that it gives to nobody else, ever.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.said.subject
    }

    /// The e-mail address, if the provider has verified that it is the user's.
    #[must_use]
    pub fn verified_email(&self) -> Option<&str> {
        // Some providers send it as text.
        let verified = self.said.others.get("email_verified");
        let is_verified = verified.is_some_and(|value| *value == Value::Bool(true) || *value == "true");
        self.email().filter(|_| is_verified)
    }

    /// The e-mail address as the user may have typed it at the provider: to fill in a form, and to send a confirmation
    /// to.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.text("email")
    }

    /// The full name, for people to read.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text("name")
    }

    /// Any other claim, such as `hd`, `groups` or `locale`; `None` if it is not there, or of another type.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.said.others.get(name)?).ok()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.said.others.get(name)?.as_str()
    }

    /// Signs in the account that these claims belong to, as [`sign_in`](crate::sign_in) does. It is
    /// [`Fresh`](crate::Fresh) for as long after the user proved it to the provider as after a password typed here: a
    /// provider that still knows the browser asks nobody, and one that does not say when it last did (`auth_time`)
    /// makes nobody fresh. [`Provider::max_age`](super::Provider::max_age) has it ask again.
    ///
    /// An example is at [`Provider`](super::Provider).
    pub async fn sign_in<A: Account>(&self, cx: &mut Cx<'_>, account: &A) -> skep::Result<()> {
        sign_in_proved(cx, account, self.proved.unwrap_or(0)).await
    }

    /// When the user last proved to the provider who it is. `None` if the provider does not say, or if it was longer
    /// ago than the [`max_age`](super::Provider::max_age) that it was asked for.
    #[must_use]
    pub fn proved_at(&self) -> Option<SystemTime> {
        Some(UNIX_EPOCH + Duration::from_millis(self.proved?))
    }

    /// The caller has verified them.
    pub(super) fn verified(said: Said, proved: Option<u64>) -> Self {
        Self { said, proved }
    }

    /// Adds what is not there yet. What the ID token says, which is signed, counts.
    pub(super) fn extend(&mut self, more: Self) {
        // Whether an address is verified is said where the address is.
        if self.email().is_none() {
            self.said.others.remove("email_verified");
        }
        for (name, value) in more.said.others {
            self.said.others.entry(name).or_insert(value);
        }
    }
}
