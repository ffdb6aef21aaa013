//! What a provider says of a user.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a provider says of a user, once it is verified that the provider says it, to this application, for this sign-in.
///
/// [`issuer`](Self::issuer) and [`subject`](Self::subject) together are the user: store both with the account, and find it by them. An
/// address is no identity: it may be given to somebody else, and a provider that has not verified it lets anybody name any address.
/// [`verified_email`](Self::verified_email) is the only one to link an account by.
///
/// An example is at [`Provider`](super::Provider).
#[derive(Clone, Debug)]
pub struct Claims(Said);

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
        &self.0.issuer
    }

    /// Whom the provider means: an id that it gives to nobody else, ever.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// The e-mail address, if the provider has verified that it is the user's.
    #[must_use]
    pub fn verified_email(&self) -> Option<&str> {
        // Some providers send it as text.
        let verified = self.0.others.get("email_verified");
        let is_verified = verified.is_some_and(|value| *value == Value::Bool(true) || *value == "true");
        self.email().filter(|_| is_verified)
    }

    /// The e-mail address as the user may have typed it at the provider: to fill in a form, and to send a confirmation to.
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
        T::deserialize(self.0.others.get(name)?).ok()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.others.get(name)?.as_str()
    }

    /// The caller has verified them.
    pub(super) fn verified(said: Said) -> Self {
        Self(said)
    }

    /// Adds what is not there yet. What the ID token says, which is signed, counts.
    pub(super) fn extend(&mut self, more: Self) {
        // Whether an address is verified is said where the address is.
        if self.email().is_none() {
            self.0.others.remove("email_verified");
        }
        for (name, value) in more.0.others {
            self.0.others.entry(name).or_insert(value);
        }
    }
}
