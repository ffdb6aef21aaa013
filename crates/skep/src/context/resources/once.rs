//! Forms that are accepted once: `once = "2h"`.
//!
//! A form contains a token: an id and an expiry, sealed for its service and its browser. The handler runs once per id.
//! The id is claimed before the handler runs and released only if the handler returns an error; after a panic or a
//! disconnect, where the outcome is unknown, it stays claimed.
//!
//! Claims are stored in the application's database, if there is one, and survive restarts. Without one they are in
//! memory, and a token of another process counts as expired. If that memory is full, the claim of the oldest form makes
//! room, and all forms as old as that count as expired: they are shown again, and none is accepted twice. So who sends
//! many forms does not keep others from sending theirs. What handles them is `endpoint::once`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_channel::oneshot;
use skep_units::lock;

use crate::routing::route::Route;
use crate::security::keys::{self, AppKeys};
use skep_http::error::Result;

/// The hidden field that holds the token.
pub(crate) const FIELD: &str = "skep-once";

/// The table in the application's database, and the index that finds expired rows.
pub(crate) const SCHEMA: &[&str] = &[
    "create table if not exists skep_once (
    id blob primary key, until integer not null, digest integer not null, location text
) without rowid",
    "create index if not exists skep_once_until on skep_once (until)",
];

/// The same for PostgreSQL.
pub(crate) const POSTGRES_SCHEMA: &[&str] = &[
    "create table if not exists skep_once (
    id bytea primary key, until bigint not null, digest bigint not null, location text
)",
    "create index if not exists skep_once_until on skep_once (until)",
];

/// Submissions in progress, and without a database also the completed ones.
pub(crate) struct Ledger {
    /// Maximum number of entries.
    most: usize,
    /// Identifies the tokens of this process.
    pub(crate) process: [u8; 8],
    claims: Mutex<Claims>,
    /// When expired rows were last removed from the database, in seconds.
    pub(crate) tidied: AtomicU64,
}

/// The token of one form; the first to be issued sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// When the form was made, in milliseconds since 1970.
    pub(crate) issued: u64,
    /// When it expires, in milliseconds since 1970.
    pub(crate) until: u64,
    pub(crate) id: [u8; 16],
}

#[derive(Default)]
struct Claims {
    by_key: BTreeMap<Key, State>,
    /// Those of handlers that have ended, the first to expire first.
    by_expiry: BTreeSet<(u64, Key)>,
    /// When the newest form was issued whose claim was forgotten.
    forgotten_until: Option<u64>,
}

enum State {
    /// The handler runs; these wait for it.
    Running(Vec<oneshot::Sender<()>>),
    Done(Outcome),
}

/// How a submission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Of what was sent.
    pub(crate) digest: i64,
    /// Where it was redirected to.
    pub(crate) location: Option<String>,
}

pub(crate) enum Claim<'l> {
    First(Taken<'l>),
    After(oneshot::Receiver<()>),
    Done(Outcome),
    /// The form is so old that it may have been claimed and forgotten.
    Forgotten,
    /// As many handlers run as may be remembered.
    Full,
}

/// A claimed id.
pub(crate) struct Taken<'l> {
    ledger: &'l Ledger,
    pub(crate) key: Key,
    /// Recorded on drop; `None` releases the id.
    pub(crate) outcome: Option<Outcome>,
}

impl Ledger {
    pub(crate) fn new(most: usize) -> Self {
        // The standard library's hasher is seeded from the system's randomness.
        Self {
            most,
            process: RandomState::new().hash_one(0).to_be_bytes(),
            claims: Mutex::default(),
            tidied: AtomicU64::new(0),
        }
    }

    pub(crate) fn claim(&self, key: Key, now: u64) -> Claim<'_> {
        let claims = &mut *lock(&self.claims);
        claims.remove_expired(now);
        match claims.by_key.get_mut(&key) {
            Some(State::Done(outcome)) => return Claim::Done(outcome.clone()),
            Some(State::Running(waiting)) => {
                let (sender, receiver) = oneshot::channel();
                waiting.push(sender);
                return Claim::After(receiver);
            }
            None => {}
        }
        // One that expired while it waited for another one may have been forgotten with that.
        if key.until < now || Some(key.issued) <= claims.forgotten_until {
            return Claim::Forgotten;
        }
        if claims.by_key.len() >= self.most && !claims.forget_oldest() {
            return Claim::Full;
        }
        claims.by_key.insert(key, State::Running(Vec::new()));
        Claim::First(Taken { ledger: self, key, outcome: None })
    }
}

impl Claims {
    fn remove_expired(&mut self, now: u64) {
        while let Some((_, first)) = self.by_expiry.first().copied().filter(|(until, _)| *until < now) {
            self.by_expiry.pop_first();
            self.by_key.remove(&first);
        }
    }

    /// Whether there was one whose handler had ended.
    fn forget_oldest(&mut self) -> bool {
        let done = |(key, state): (&Key, &State)| matches!(state, State::Done(_)).then_some(*key);
        let Some(oldest) = self.by_key.iter().find_map(done) else { return false };
        self.by_key.remove(&oldest);
        self.by_expiry.remove(&(oldest.until, oldest));
        self.forgotten_until = self.forgotten_until.max(Some(oldest.issued));
        true
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut claims = lock(&self.ledger.claims);
        // Waiting submissions retry when their senders are dropped.
        match self.outcome.take() {
            Some(outcome) => {
                claims.by_expiry.insert((self.key.until, self.key));
                claims.by_key.insert(self.key, State::Done(outcome));
            }
            None => drop(claims.by_key.remove(&self.key)),
        }
    }
}

/// The token of one form.
pub(crate) fn token(secret: &AppKeys, ledger: &Ledger, route: &Route, cookie: &str) -> Result<String> {
    let lasts = milliseconds(route.once.unwrap_or_default());
    let id: [u8; 16] = keys::random()?;
    let until = (now() + lasts).to_be_bytes();
    let text = [&until[..], &id, &ledger.process, cookie.as_bytes()].concat();
    secret.seal_own(&purpose(route), &text)
}

/// With the service's name: several may answer one path.
pub(crate) fn purpose(route: &Route) -> String {
    // Times are in milliseconds; they were in seconds.
    format!("form {FIELD} ms {} {} {}", route.method, route.path(), route.service)
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, milliseconds)
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

skep_units::opaque_debug!(Ledger, most: most);

#[cfg(test)]
#[path = "../../../tests/unit/resources/once.rs"]
mod tests;
