//! Which sessions a user has: so that all of them can be ended, and that they do not become any number.
//!
//! A list for each user stands beside the sessions, under a digest of the user's name. Who joins is in the list before
//! the session says whose it is, and leaves it after the session has ended: whatever fails in between, no session of a
//! user is missing in it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use skep_cache::{EntryPolicy, Time};

use super::id::{Id, Name};
use super::store::{Sessions, Stored, Values, end};
use crate::context::cache::Cache;
use skep_http::error::Result;

/// The value of a session that says whose it is. No key of an application has such a name by chance.
pub(super) const OWNER: &str = "\0user";

/// How long a device is remembered since its last use, by remember-me.
pub const REMEMBERED_FOR: Duration = Duration::from_hours(60 * 24);

/// The list of a user, and when it is changed.
pub(super) struct List {
    /// A user as the store knows them: not by name.
    pub(super) name: Name,
    life: Duration,
    now: Time,
}

impl Sessions {
    pub(super) fn list_of(&self, user: &str) -> List {
        let digest = Sha256::new().chain_update(b"user\0").chain_update(&self.program).chain_update([0]);
        List {
            name: digest.chain_update(user).finalize().into(),
            life: self.rules.life.max(REMEMBERED_FOR),
            now: self.now(),
        }
    }

    /// The session of this id is the user's from now on. Of more than are allowed, those that are oldest end; one that
    /// is about to be over, as this one takes its place, does not count.
    pub(super) async fn join(&self, id: &Id, user: &str, instead_of: Option<&Id>) -> Result<()> {
        let (list, name) = (self.list_of(user), id.name(&self.program));
        let staying = [Some(name), instead_of.map(|old| old.name(&self.program))];
        let most = self.most_of_user;
        self.write(move |cache| async move {
            let mut oldest = Vec::new();
            let joined = list.change(&cache, |all| {
                all.insert(text(&name), list.now.millis().to_string());
                oldest = beyond(all, most, &staying);
            });
            joined.await?;
            list.end_all(&cache, oldest).await
        })
        .await
    }

    /// The session of this id is nobody's any more.
    pub(super) async fn leave(&self, id: &Id, user: &str) -> Result<()> {
        let (list, name) = (self.list_of(user), id.name(&self.program));
        self.write(move |cache| async move { list.change(&cache, |all| drop(all.remove(&text(&name)))).await }).await
    }

    /// Ends all sessions of a user, except one.
    pub(super) async fn end_all_of(&self, user: &str, spared: Option<&Id>) -> Result<()> {
        let (list, spared) = (self.list_of(user), spared.map(|id| id.name(&self.program)));
        self.write(move |cache| async move {
            let all = cache.get(&list.name[..]).await?.map(|list| list.values).unwrap_or_default();
            let names = all.keys().filter_map(|text| name_of(text)).filter(|name| Some(*name) != spared);
            list.end_all(&cache, names.collect()).await
        })
        .await
    }
}

impl List {
    /// Ends sessions, and takes them from the list when that is done: if the store fails, they are still in it.
    pub(super) async fn end_all(&self, cache: &Cache<[u8], Stored>, names: Vec<Name>) -> skep_cache::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        for name in &names {
            end(cache, name, self.now).await?;
        }
        let is_over = |text: &str| names.iter().any(|name| name_of(text) == Some(*name));
        self.change(cache, |all| all.retain(|text, _| !is_over(text))).await
    }

    /// Changes it in one step. It outlives every session in it: each began or was renewed when it came in.
    async fn change(
        &self,
        cache: &Cache<[u8], Stored>,
        mut change: impl FnMut(&mut Values) + Send,
    ) -> skep_cache::Result<()> {
        let life = EntryPolicy::new(self.life);
        let changed = cache.update_with(&self.name[..], &life, |old| {
            let mut stored = old.unwrap_or_else(|| Stored::new(Values::new(), self.now));
            change(&mut stored.values);
            stored
        });
        changed.await.map(drop)
    }
}

/// The oldest of those that are too many; not the one that has just come, nor the one that it replaces.
fn beyond(all: &Values, most: usize, staying: &[Option<Name>; 2]) -> Vec<Name> {
    let since = |text: &String| text.parse::<u64>().unwrap_or(0);
    let mut others: Vec<_> = all.iter().filter(|(text, _)| !staying.contains(&name_of(text))).collect();
    others.sort_by_key(|(_, begun)| since(begun));
    let many = (others.len() + 1).saturating_sub(most.max(1));
    others.iter().take(many).filter_map(|(text, _)| name_of(text)).collect()
}

pub(super) fn text(name: &Name) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

pub(super) fn name_of(text: &str) -> Option<Name> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}
