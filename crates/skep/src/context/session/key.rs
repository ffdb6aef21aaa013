//! The names and types of session values.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

/// The name and type of a session value.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use skep::session::Key;
///
/// #[derive(Serialize, Deserialize)]
/// struct Cart { articles: Vec<u32> }
///
/// const CART: Key<Cart> = Key::new("cart");
/// # let _ = CART;
/// ```
///
/// Values are stored as JSON and survive a new version of the program. A value that no longer fits its type counts as
/// missing; `#[serde(default)]` on a new field keeps old values readable.
pub struct Key<T> {
    name: &'static str,
    is_kept: bool,
    types: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// A name belongs to one type. See [`Key`] for an example.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, is_kept: false, types: PhantomData }
    }

    /// What a visitor puts under this key is still there after signing in, such as a cart; all else that a session
    /// holds is not ([`Session::begin_for`](super::Session::begin_for)). Values that were stored before the key was
    /// declared so count as missing.
    ///
    /// ```
    /// # use skep::session::Key;
    /// const CART: Key<Vec<u32>> = Key::new("cart").kept_at_sign_in();
    /// # let _ = CART;
    /// ```
    #[must_use]
    pub const fn kept_at_sign_in(self) -> Self {
        Self { name: self.name, is_kept: true, types: PhantomData }
    }

    /// Its name in a session.
    pub(super) fn stored(&self) -> Cow<'static, str> {
        if self.is_kept { Cow::Owned(format!("{KEPT}{}", self.name)) } else { Cow::Borrowed(self.name) }
    }
}

/// How the names of values begin that are kept at sign-in. No key of an application has such a name by chance.
pub(super) const KEPT: char = '\u{1}';

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.name).finish()
    }
}

/// A value of another type counts as missing.
pub(super) fn decode<T: DeserializeOwned>(key: &Key<T>, text: &str) -> Option<T> {
    serde_json::from_str(text)
        .inspect_err(|error| {
            // The value itself belongs in no log.
            tracing::debug!(target: "skep::session", key = key.name, line = error.line(), "a value does not fit its type");
        })
        .ok()
}
