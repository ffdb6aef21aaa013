//! Remember-me series: entries that stand in the list of a user's sessions and end with them, and are no sessions.
//!
//! A device has a series for as long as it is remembered, and the series has a token that each use replaces. What it
//! holds is up to who signs in by it. `skep-people` has remember-me made of these; an application with a sign-in of its
//! own may do the same:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use skep::prelude::*;
//! use skep::session::Key;
//! use skep::session::series::{REMEMBERED_FOR, Series};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Device { token: String }
//!
//! const DEVICE: Key<Device> = Key::new("device");
//!
//! async fn remember(cx: &Cx<'_>, user: &str, token: &str) -> Result<()> {
//!     let device = DEVICE.entry(&Device { token: token.to_owned() })?;
//!     let (id, _) = Series::of(cx).begin(user, &[device]).await?;
//!     cx.send_cookie(&Cookie::new("device", format!("{id}.{token}")).max_age(REMEMBERED_FOR));
//!     Ok(())
//! }
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use skep_cache::EntryPolicy;

use super::id::Id;
use super::store::{Sessions, Stored, Values, end, set};
pub use super::users::REMEMBERED_FOR;
use super::users::{OWNER, text};
use super::{Key, decode};
use crate::context::cache::Cache;
use crate::context::cx::Cx;
use skep_http::error::Result;

/// A value and its name, as they are stored: [`Key::entry`].
#[derive(Clone)]
pub struct Entry(String, String);

skep_units::opaque_debug!(Entry);

impl<T: Serialize> Key<T> {
    /// A value by its name, as it is stored, for a [series](self).
    pub fn entry(&self, value: &T) -> Result<Entry> {
        Ok(Entry(self.stored().into_owned(), serde_json::to_string(value)?))
    }
}

/// The series of an application. An example is in the documentation of the [module](self).
#[derive(Clone, Copy)]
pub struct Series<'r>(&'r Sessions);

skep_units::opaque_debug!(Series<'_>);

impl<'r> Series<'r> {
    /// Those of the application that a request is for. An example is in the documentation of the [module](self).
    #[must_use]
    pub fn of(cx: &Cx<'r>) -> Self {
        Self(&cx.shared().resources().shared().sessions)
    }

    /// Begins a series of a user's: the id for the browser, and the one in the list.
    pub async fn begin(self, user: &str, values: &[Entry]) -> Result<(String, String)> {
        let (id, sessions) = (Id::draw()?, self.0);
        sessions.join(&id, user, None).await?;
        let mut values: Values = values.iter().cloned().map(|Entry(name, value)| (name, value)).collect();
        values.insert(OWNER.to_owned(), user.to_owned());
        let (name, now) = (id.name(&sessions.program), sessions.now());
        let write = move |cache| async move {
            set(&cache, &name, &EntryPolicy::new(REMEMBERED_FOR), &Stored::new(values, now)).await
        };
        sessions.write(write).await?;
        Ok((id.to_text(), text(&name)))
    }

    /// Changes the value of a series in one step: its id in the list, and what the last call of `change` gave back.
    /// `None` if there is no such series.
    pub async fn change<T, O>(
        self,
        id: &str,
        key: &'static Key<T>,
        mut change: impl FnMut(&mut T) -> O + Send + 'static,
    ) -> Result<Option<(String, O)>>
    where
        T: Serialize + DeserializeOwned,
        O: Send + 'static,
    {
        let Some(id) = Id::parse(id) else { return Ok(None) };
        let (name, now) = (id.name(&self.0.program), self.0.now());
        let write = move |cache: Cache<[u8], Stored>| async move {
            // A missing series stays missing: no entry for each name that somebody makes up.
            if cache.get(&name[..]).await?.is_none() {
                return Ok(None);
            }
            let (mut given, policy) = (None, EntryPolicy::new(REMEMBERED_FOR));
            let changed = cache.update_with(&name[..], &policy, |old| {
                given = None;
                let mut stored = old.unwrap_or_else(|| Stored::over(now));
                let value = stored.values.get(&*key.stored()).and_then(|text| decode(key, text));
                if let Some(mut value) = value.filter(|_| !stored.is_over()) {
                    given = Some(change(&mut value));
                    if let Ok(Entry(name, text)) = key.entry(&value) {
                        stored.values.insert(name, text);
                    }
                    stored.seen = now.millis();
                }
                stored
            });
            changed.await?;
            Ok(given.map(|given| (text(&name), given)))
        };
        self.0.write(write).await
    }

    /// Whose series this is.
    pub async fn owner(self, id: &str) -> Result<Option<String>> {
        let Some(id) = Id::parse(id) else { return Ok(None) };
        let name = id.name(&self.0.program);
        let stored = self.0.read(move |cache| async move { cache.get(&name[..]).await }).await?;
        Ok(stored.and_then(|mut stored| stored.values.remove(OWNER)))
    }

    /// Ends a series.
    pub async fn end(self, id: &str) -> Result<()> {
        let Some(id) = Id::parse(id) else { return Ok(()) };
        let (name, now) = (id.name(&self.0.program), self.0.now());
        let values = self.0.write(move |cache| async move { end(&cache, &name, now).await }).await?;
        match values.as_ref().and_then(|values| values.get(OWNER)) {
            Some(user) => self.0.leave(&id, user).await,
            None => Ok(()),
        }
    }
}
