//! The sessions of a user as a page lists them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;

use super::id::Name;
use super::store::{Sessions, Stored, Values};
use super::users::{name_of, text};
use super::{Key, LoadState, Session, decode};
use skep_http::error::Result;

impl Sessions {
    /// The entries in a user's list that are not over.
    async fn all_of(&self, user: &str) -> Result<Vec<(Name, Stored)>> {
        let list = self.list_of(user);
        self.read(move |cache| async move {
            let all = cache.get(&list.name[..]).await?.map(|list| list.values).unwrap_or_default();
            let mut found = Vec::new();
            for name in all.keys().filter_map(|text| name_of(text)) {
                found.extend(cache.get(&name[..]).await?.map(|stored| (name, stored)));
            }
            Ok(found)
        })
        .await
    }

    /// True if the session of this name is not over.
    async fn is_there(&self, name: &str) -> Result<bool> {
        let Some(name) = name_of(name) else { return Ok(false) };
        let stored = self.read(move |cache| async move { cache.get(&name[..]).await }).await?;
        Ok(stored.is_some_and(|stored| !stored.is_over() && self.is_within_life(&stored)))
    }

    /// Ends one entry of a user's list; false if it is not in it.
    async fn end_one_of(&self, user: &str, id: &str) -> Result<bool> {
        let (list, name) = (self.list_of(user), name_of(id));
        self.write(move |cache| async move {
            let all = cache.get(&list.name[..]).await?.map(|list| list.values).unwrap_or_default();
            match name.filter(|name| all.contains_key(&text(name))) {
                Some(name) => list.end_all(&cache, vec![name]).await.map(|()| true),
                None => Ok(false),
            }
        })
        .await
    }
}

/// An entry in the list of a user's sessions: [`Session::all_of`].
#[non_exhaustive]
pub struct Listed {
    /// The digest under which it is stored: of no use to anybody but its user.
    pub id: String,
    /// When it began.
    pub begun: SystemTime,
    /// When it was last used, accurate to ten minutes.
    pub seen: SystemTime,
    /// It is the one of this request.
    pub is_current: bool,
    values: Values,
}

// Not its values.
skep_units::opaque_debug!(Listed);

impl Listed {
    /// A value in it. An example is at [`Session::all_of`].
    pub fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Option<T> {
        self.values.get(&*key.stored()).and_then(|text| decode(key, text))
    }
}

impl Session<'_> {
    /// The sessions that [belong](Self::belongs_to) to a user, and [series](super::series), for a page that lists them.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const BROWSER: Key<String> = Key::new("browser");
    ///
    /// async fn list(cx: &Cx<'_>, user: &str) -> Result<Vec<(String, Option<String>)>> {
    ///     let all = cx.session().all_of(user).await?;
    ///     Ok(all.into_iter().map(|session| (session.get(&BROWSER), session.id)).map(|(browser, id)| (id, browser)).collect())
    /// }
    ///
    /// async fn log_out_there(cx: &Cx<'_>, user: &str, id: &str) -> Result<bool> {
    ///     cx.session().end_one_of(user, id).await
    /// }
    /// ```
    pub async fn all_of(&self, user: &str) -> Result<Vec<Listed>> {
        self.require_list()?;
        let own = self.own_name().await?;
        let all = self.sessions.all_of(user).await?.into_iter().filter(|(_, stored)| !stored.is_over());
        let time = |millis| UNIX_EPOCH + Duration::from_millis(millis);
        let listed = all.map(|(name, stored)| {
            let id = text(&name);
            Listed {
                is_current: own.as_ref() == Some(&id),
                id,
                begun: time(stored.begun),
                seen: time(stored.seen),
                values: stored.values,
            }
        });
        Ok(listed.collect())
    }

    /// Ends one of them; false if it is not in the list. An example is at [`all_of`](Self::all_of).
    pub async fn end_one_of(&self, user: &str, id: &str) -> Result<bool> {
        let is_own = self.own_name().await?.as_deref() == Some(id);
        let ended = self.sessions.end_one_of(user, id).await?;
        if ended && is_own {
            self.close();
        }
        Ok(ended)
    }

    /// Ends a user's sessions but for this one. An example of the user is at [`all_of`](Self::all_of).
    pub async fn end_others_of(&self, user: &str) -> Result<()> {
        self.require_list()?;
        match self.now().await? {
            LoadState::Open(open) => self.sessions.end_all_of(user, Some(&open.id)).await,
            _ => self.sessions.end_all_of(user, None).await,
        }
    }

    /// True if the session with this [id in a list](Listed::id) has not ended. That it is used is not noted: for what
    /// goes on while perhaps nobody is there.
    ///
    /// ```
    /// async fn goes_on(cx: &skep::Cx<'_>) -> skep::Result<bool> {
    ///     match cx.session().own_name().await? {
    ///         Some(id) => cx.session().lasts(&id).await,
    ///         None => Ok(false),
    ///     }
    /// }
    /// ```
    pub async fn lasts(&self, id: &str) -> Result<bool> {
        self.sessions.is_there(id).await
    }

    /// The [id in a list](Listed::id) of this session, if there is one. An example is at [`lasts`](Self::lasts).
    pub async fn own_name(&self) -> Result<Option<String>> {
        Ok(match self.now().await? {
            LoadState::Open(open) => Some(text(&open.id.name(&self.sessions.program))),
            _ => None,
        })
    }
}
