//! Which sessions a user has: so that all of them can be ended, and that they do not become any number.
//!
//! A list for each user stands beside the sessions, under a digest of the user's name. Who joins is in the list before the session says
//! whose it is, and leaves it after the session has ended: whatever fails in between, no session of a user is missing in it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use skep_cache::{EntryPolicy, Time};

use super::id::{Id, Name};
use super::store::{Sessions, Stored, Values, end};
use crate::cache::Cache;
use crate::error::Result;

/// The value of a session that says whose it is. No key of an application has such a name by chance.
pub(super) const OWNER: &str = "\0user";

/// A user as the store knows them: not by name.
fn list_of(program: &str, user: &str) -> Name {
    let digest = Sha256::new().chain_update(b"user\0").chain_update(program).chain_update([0]).chain_update(user);
    digest.finalize().into()
}

impl Sessions {
    /// The session of this id is the user's from now on. Of more than are allowed, those that are oldest end; one that is about to be
    /// over, as this one takes its place, does not count.
    pub(super) async fn join(&self, id: &Id, user: &str, instead_of: Option<&Id>) -> Result<()> {
        let (list, name) = (list_of(self.program(), user), id.name(self.program()));
        let staying = [Some(name), instead_of.map(|old| old.name(self.program()))];
        let (now, life, most) = (self.now(), self.rules().life, self.most_of_user());
        self.write(move |cache| async move {
            let mut oldest = Vec::new();
            change(&cache, &list, life, now, |all| {
                all.insert(text(&name), now.millis().to_string());
                oldest = beyond(all, most, &staying);
            })
            .await?;
            end_all(&cache, &list, life, now, oldest).await
        })
        .await
    }

    /// The session of this id is nobody's any more.
    pub(super) async fn leave(&self, id: &Id, user: &str) -> Result<()> {
        let (list, name) = (list_of(self.program(), user), id.name(self.program()));
        let (now, life) = (self.now(), self.rules().life);
        self.write(move |cache| async move {
            change(&cache, &list, life, now, |all| drop(all.remove(&text(&name)))).await.map(drop)
        })
        .await
    }

    /// Ends all sessions of a user.
    pub(crate) async fn end_all_of(&self, user: &str) -> Result<()> {
        let list = list_of(self.program(), user);
        let (now, life) = (self.now(), self.rules().life);
        self.write(move |cache| async move {
            let all = cache.get(&list[..]).await?.map(|list| list.values).unwrap_or_default();
            end_all(&cache, &list, life, now, all.keys().filter_map(|text| name_of(text)).collect()).await
        })
        .await
    }
}

/// Ends sessions, and takes them from the list when that is done: if the store fails, they are still in it.
async fn end_all(
    cache: &Cache<[u8], Stored>,
    list: &Name,
    life: std::time::Duration,
    now: Time,
    names: Vec<Name>,
) -> skep_cache::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for name in &names {
        end(cache, name, now).await?;
    }
    change(cache, list, life, now, |all| all.retain(|text, _| !names.iter().any(|name| name_of(text) == Some(*name))))
        .await
        .map(drop)
}

/// Changes a list in one step. It outlives every session in it: each began or was renewed when it came in.
async fn change(
    cache: &Cache<[u8], Stored>,
    list: &Name,
    life: std::time::Duration,
    now: Time,
    mut change: impl FnMut(&mut Values) + Send,
) -> skep_cache::Result<Stored> {
    let life = EntryPolicy::new(life);
    let changed = cache.update_with(&list[..], &life, |old| {
        let mut stored = old.unwrap_or_else(|| Stored::new(Values::new(), now));
        change(&mut stored.values);
        stored
    });
    changed.await
}

/// The oldest of those that are too many; not the one that has just come, nor the one that it replaces.
fn beyond(all: &Values, most: usize, staying: &[Option<Name>; 2]) -> Vec<Name> {
    let since = |text: &String| text.parse::<u64>().unwrap_or(0);
    let mut others: Vec<_> = all.iter().filter(|(text, _)| !staying.contains(&name_of(text))).collect();
    others.sort_by_key(|(_, begun)| since(begun));
    let many = (others.len() + 1).saturating_sub(most.max(1));
    others.iter().take(many).filter_map(|(text, _)| name_of(text)).collect()
}

fn text(name: &Name) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

fn name_of(text: &str) -> Option<Name> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}
