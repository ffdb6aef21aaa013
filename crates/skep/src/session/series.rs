//! Remember-me series: entries that stand in the list of a user's sessions and end with them, and are none themselves.

use serde::Serialize;
use serde::de::DeserializeOwned;
use skep_cache::EntryPolicy;

use super::id::Id;
use super::store::{Sessions, Stored, Values, end, set};
use super::users::{OWNER, REMEMBERED_FOR, text};
use super::{Key, decode};
use crate::error::Result;

impl<T: Serialize> Key<T> {
    /// A value by its name, as it is stored.
    pub(crate) fn entry(&self, value: &T) -> Result<(String, String)> {
        Ok((self.stored().into_owned(), serde_json::to_string(value)?))
    }
}

impl Sessions {
    /// Begins a series of a user's: the id for the browser, and the one in the list.
    pub(crate) async fn begin_series(&self, user: &str, values: &[(String, String)]) -> Result<(String, String)> {
        let id = Id::draw()?;
        self.join(&id, user, None).await?;
        let mut values: Values = values.iter().cloned().collect();
        values.insert(OWNER.to_owned(), user.to_owned());
        let (name, now) = (id.name(&self.program), self.now());
        self.write(move |cache| async move {
            set(&cache, &name, &EntryPolicy::new(REMEMBERED_FOR), &Stored::new(values, now)).await
        })
        .await?;
        Ok((id.to_text(), text(&name)))
    }

    /// Changes the value of a series in one step: its id in the list, and what the last call of `change` gave back. `None` if there is no
    /// such series.
    pub(crate) async fn change_series<T, O>(
        &self,
        id: &str,
        key: &'static Key<T>,
        mut change: impl FnMut(&mut T) -> O + Send + 'static,
    ) -> Result<Option<(String, O)>>
    where
        T: Serialize + DeserializeOwned,
        O: Send + 'static,
    {
        let Some(id) = Id::parse(id) else { return Ok(None) };
        let (name, now) = (id.name(&self.program), self.now());
        self.write(move |cache| async move {
            // What is none is left as it is, without an entry for each name that somebody makes up.
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
                    if let Ok((name, text)) = key.entry(&value) {
                        stored.values.insert(name, text);
                    }
                    stored.seen = now.millis();
                }
                stored
            });
            changed.await?;
            Ok(given.map(|given| (text(&name), given)))
        })
        .await
    }

    /// Whose series this is.
    pub(crate) async fn series_owner(&self, id: &str) -> Result<Option<String>> {
        let Some(id) = Id::parse(id) else { return Ok(None) };
        let name = id.name(&self.program);
        let stored = self.read(move |cache| async move { cache.get(&name[..]).await }).await?;
        Ok(stored.and_then(|mut stored| stored.values.remove(OWNER)))
    }

    /// Ends a series.
    pub(crate) async fn end_series(&self, id: &str) -> Result<()> {
        let Some(id) = Id::parse(id) else { return Ok(()) };
        let (name, now) = (id.name(&self.program), self.now());
        let values = self.write(move |cache| async move { end(&cache, &name, now).await }).await?;
        match values.as_ref().and_then(|values| values.get(OWNER)) {
            Some(user) => self.leave(&id, user).await,
            None => Ok(()),
        }
    }
}
