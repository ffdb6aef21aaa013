//! Where sessions are kept: an entry for each in the cache `sessions`, all of its values together.
//!
//! Each change is one step of the cache (`Cache::update`), so that no other request comes between. What waits for a
//! disk waits where blocking harms no one; reading a local store does not wait.
//!
//! A session that was renewed or ended leaves a mark for a minute. By it, a request that was on its way knows that it
//! is late; else it would begin another session, and its cookie would take the place of the renewed one's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep_cache::driver::block_on;
use skep_cache::tiers::{Far, Near, Tiers};
use skep_cache::{Clock, EntryPolicy, Memory, Time};
use skep_units::lock;

use super::id::{Id, Name};
use super::users::OWNER;
use super::{Keep, Rules, SessionStore, unavailable};
use crate::context::cache::{self, Cache};
use crate::context::setup::Setup;
use crate::offload::{Offload, offload_to_end};
use crate::security::rate::{Rate, Table};
#[cfg(feature = "local-tiers")]
use crate::sql::private;
#[cfg(not(target_family = "wasm"))]
use crate::status::Part;
use skep_http::error::Result;

/// What a session holds: JSON by name.
pub(super) type Values = BTreeMap<String, String>;

/// The sessions of an application.
pub(crate) struct Sessions {
    store: Arc<LazyStore>,
    pub(super) rules: Rules,
    /// In bytes.
    pub(super) limit: usize,
    /// Sessions of one user.
    pub(super) most_of_user: usize,
    clock: Clock,
    pub(super) program: String,
    /// Of new sessions.
    pub(super) rate: Rate,
    offload: Arc<dyn Offload>,
}

/// A store of sessions that is open.
type Opened = (Cache<[u8], Stored>, Blocks);

/// Opened when it is first needed: an application without sessions has no file for them.
struct LazyStore {
    cache: Mutex<Option<Opened>>,
    opening: Mutex<()>,
    /// The file of who configures nothing; without one, memory.
    file: Option<PathBuf>,
    /// How many that file may hold.
    #[cfg(feature = "local-tiers")]
    most: u64,
    /// How many bytes.
    #[cfg(feature = "local-tiers")]
    most_bytes: u64,
    rules: Rules,
    clock: Clock,
    #[cfg(target_family = "wasm")]
    host: Option<&'static crate::host::component::functions::CacheFunctions>,
}

/// Writing waits for a disk, in place.
type Blocks = bool;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    /// In milliseconds since 1970.
    pub(super) begun: u64,
    /// When it was last noted that somebody uses it.
    pub(super) seen: u64,
    /// Not 0: it was renewed or ended, and until then it is remembered.
    over_until: u64,
    pub(super) values: Values,
}

/// What is known under an id.
pub(super) enum Found {
    /// Nobody was given this id, or it is over for long.
    Nothing,
    /// It was renewed or ended a moment ago.
    Over,
    Values(Values),
}

/// A change of one value.
pub(super) struct Change {
    pub(super) name: Cow<'static, str>,
    pub(super) when: When,
    pub(super) new: Option<String>,
}

/// The condition of a change.
pub(super) enum When {
    Always,
    /// This is there, or nothing.
    There(Option<String>),
}

/// What became of a change.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Done,
    Differs,
    Over,
    TooLarge { bytes: usize, limit: usize },
}

/// How long it is remembered that a session was renewed or ended.
const MARK_LASTS: Duration = Duration::from_mins(1);
/// How exactly it is known when a session was last used, at least.
const SEEN_EVERY: Duration = Duration::from_mins(10);
/// Without a place that outlives the process. It takes memory only as it fills.
const MEMORY: u64 = 64 << 20;
/// The name of their cache.
pub(crate) const SESSIONS: &str = "sessions";
/// The file in the data folder.
const FILE: &str = "sessions.sqlite";

#[cfg(not(target_family = "wasm"))]
impl Sessions {
    /// What the store holds, once it is open.
    pub(crate) fn status(&self) -> Option<Part> {
        let cache = lock(&self.store.cache).as_ref()?.0.clone();
        Some(cache::of_usage("sessions", cache.driver()))
    }
}

impl Sessions {
    pub(crate) fn new(setup: &Setup, program: &str, table: &Table) -> Self {
        let file = (!setup.temporary_database).then(|| setup.data.join(FILE));
        let (rules, clock) = (setup.session, setup.clock.clone());
        let store = LazyStore {
            cache: Mutex::default(),
            opening: Mutex::default(),
            file,
            #[cfg(feature = "local-tiers")]
            most: setup.limits.sessions,
            #[cfg(feature = "local-tiers")]
            most_bytes: setup.limits.session_store,
            rules,
            clock: clock.clone(),
            #[cfg(target_family = "wasm")]
            host: setup.host.cache,
        };
        Self {
            store: Arc::new(store),
            rules,
            limit: setup.limits.session,
            most_of_user: setup.limits.user_sessions,
            clock,
            program: program.to_owned(),
            rate: Rate::new("sessions", setup.limits.sessions_per_address, table),
            offload: Arc::clone(&setup.offload),
        }
    }

    /// Keeps them where a configuration says, which was opened already.
    pub(crate) fn keep_on(&self, driver: Arc<cache::Backend>, blocks: Blocks) -> Result<()> {
        if self.store.opened().is_none() {
            let cache = self.store.build(driver)?;
            self.store.keep(cache, blocks);
        }
        Ok(())
    }

    /// Where they are kept if nobody has configured it, for a host of components, and whether writing waits for a disk.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn usual_place(&self) -> Result<(cache::Backend, Blocks)> {
        self.store.place().map_err(unavailable)
    }

    /// Closes what a copy of this process must not share.
    pub(crate) fn close_for_fork(&self) {
        *lock(&self.store.cache) = None;
    }

    /// True if sessions are their cookies, and this store is not used for them.
    pub(super) fn is_sealed(&self) -> bool {
        self.rules.store == SessionStore::Cookie
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    /// What the session of this id holds. If it is used, that is noted from time to time.
    pub(super) async fn find(&self, id: &Id, is_used: bool) -> Result<Found> {
        let name = id.name(&self.program);
        let stored = self.read(move |cache| async move { cache.get(&name[..]).await }).await?;
        let (now, Some(stored)) = (self.clock.now(), stored) else { return Ok(Found::Nothing) };
        if stored.is_over() {
            return Ok(stored.found(now));
        }
        if !self.is_within_life(&stored) {
            self.write(move |cache| async move { cache.remove(&name[..]).await }).await?;
            return Ok(Found::Nothing);
        }
        if !is_used || now.since(Time::from_millis(stored.seen)) < self.rules.seen_every() {
            return Ok(stored.found(now));
        }
        let policy = self.rules.policy(&stored.values);
        let noted = self.write(move |cache| async move {
            update(&cache, &name, &policy, now, |old| old.map(|old| Stored { seen: now.millis(), ..old })).await
        });
        match noted.await {
            Ok((noted, _)) => Ok(noted.found(now)),
            Err(error) => {
                // What was asked for is known all the same.
                tracing::warn!(target: "skep::session", "that a session is used could not be noted: {error}");
                Ok(stored.found(now))
            }
        }
    }

    pub(super) fn is_within_life(&self, stored: &Stored) -> bool {
        self.clock.now().since(Time::from_millis(stored.begun)) < self.rules.life
    }

    /// Changes a value, and gives back what the session holds now.
    pub(super) async fn change(
        &self,
        id: &Id,
        change: Change,
        known: &Values,
        may_begin: bool,
    ) -> Result<(Outcome, Values)> {
        let (name, now, limit) = (id.name(&self.program), self.clock.now(), self.limit);
        let policy = self.rules.policy_of(change.name == OWNER || known.contains_key(OWNER));
        self.write(move |cache| async move {
            let mut outcome = Outcome::Over;
            let stored = update(&cache, &name, &policy, now, |old| {
                outcome = Outcome::Over;
                let mut stored = old.or_else(|| may_begin.then(|| Stored::new(Values::new(), now)))?;
                outcome = change.apply(&mut stored.values, limit);
                stored.seen = now.millis();
                // One that would begin with what does not fit does not begin.
                (!matches!(outcome, Outcome::TooLarge { .. }) || !may_begin).then_some(stored)
            });
            let (stored, was_over) = stored.await?;
            Ok((if was_over { Outcome::Over } else { outcome }, stored.values))
        })
        .await
    }

    /// Moves a session to another id with the values that are to stay, and gives these back; none if another request
    /// was faster.
    ///
    /// The new one is there before the old one is over: if the store fails in between, the user has the old one.
    pub(super) async fn renew(&self, old: &Id, new: &Id, values: Values, keep: Keep) -> Result<Option<Values>> {
        let (old, new) = (old.name(&self.program), new.name(&self.program));
        let (now, policy) = (self.clock.now(), self.rules.policy(&values));
        self.write(move |cache| async move {
            set(&cache, &new, &policy, &Stored::new(values.clone(), now)).await?;
            let Some(last) = end(&cache, &old, now).await? else {
                cache.remove(&new[..]).await?;
                return Ok(None);
            };
            let last = keep(last);
            if last != values {
                set(&cache, &new, &policy, &Stored::new(last.clone(), now)).await?;
            }
            Ok(Some(last))
        })
        .await
    }

    /// False if it was over before.
    pub(super) async fn end(&self, id: &Id) -> Result<bool> {
        let (name, now) = (id.name(&self.program), self.clock.now());
        self.write(move |cache| async move { end(&cache, &name, now).await.map(|last| last.is_some()) }).await
    }

    pub(super) async fn read<T, F>(&self, work: impl FnOnce(Cache<[u8], Stored>) -> F + Send + 'static) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = skep_cache::Result<T>>,
    {
        match self.store.opened() {
            Some((cache, _)) => work(cache).await.map_err(unavailable),
            None => self.write(work).await,
        }
    }

    pub(super) async fn write<T, F>(&self, work: impl FnOnce(Cache<[u8], Stored>) -> F + Send + 'static) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = skep_cache::Result<T>>,
    {
        match self.store.opened() {
            Some((cache, false)) => work(cache).await.map_err(unavailable),
            _ => {
                let store = Arc::clone(&self.store);
                let done = offload_to_end(&*self.offload, move || block_on(work(store.open()?)));
                done.await.map_err(unavailable)?.map_err(unavailable)
            }
        }
    }
}

/// Changes what is stored in one step, unless it was over already, which the flag tells: a `change` that another
/// request overtook was called, and did not count. `None` stands for no session, before and after.
async fn update(
    cache: &Cache<[u8], Stored>,
    name: &Name,
    policy: &EntryPolicy,
    now: Time,
    mut change: impl FnMut(Option<Stored>) -> Option<Stored> + Send,
) -> skep_cache::Result<(Stored, bool)> {
    let mut was_over = false;
    let stored = cache.update_with(&name[..], policy, |old| {
        was_over = old.as_ref().is_some_and(Stored::is_over);
        match old {
            Some(old) if was_over => old,
            old => change(old).unwrap_or_else(|| Stored::over(now)),
        }
    });
    let stored = stored.await?;
    if stored.is_over() && stored.over_until <= now.millis() {
        cache.remove(&name[..]).await?;
    }
    Ok((stored, was_over))
}

/// Ends a session, and gives back what it held at its end.
pub(super) async fn end(cache: &Cache<[u8], Stored>, name: &Name, now: Time) -> skep_cache::Result<Option<Values>> {
    let (mut last, mark, policy) = (None, Stored::over(now.plus(MARK_LASTS)), EntryPolicy::new(MARK_LASTS));
    let ended = update(cache, name, &policy, now, |old| {
        last = old.map(|old| old.values);
        last.is_some().then(|| mark.clone())
    });
    let (_, was_over) = ended.await?;
    if was_over {
        return Ok(None);
    }
    if last.is_some() {
        cache.set_with(&name[..], &mark, &policy).await?;
    }
    Ok(last)
}

pub(super) async fn set(
    cache: &Cache<[u8], Stored>,
    name: &Name,
    policy: &EntryPolicy,
    stored: &Stored,
) -> skep_cache::Result<()> {
    let refused = || skep_cache::Error::unreachable("storing a session").because("it was not taken");
    if cache.set_with(&name[..], stored, policy).await? { Ok(()) } else { Err(refused()) }
}

impl LazyStore {
    fn opened(&self) -> Option<Opened> {
        lock(&self.cache).clone()
    }

    fn keep(&self, cache: Cache<[u8], Stored>, blocks: Blocks) {
        *lock(&self.cache) = Some((cache, blocks));
    }

    /// May wait for a disk.
    fn open(&self) -> skep_cache::Result<Cache<[u8], Stored>> {
        let _one_at_a_time = lock(&self.opening);
        if let Some((cache, _)) = self.opened() {
            return Ok(cache);
        }
        let (place, blocks) = self.place()?;
        let cache = self.build(Arc::new(place))?;
        self.keep(cache.clone(), blocks);
        Ok(cache)
    }

    fn build(&self, driver: Arc<cache::Backend>) -> skep_cache::Result<Cache<[u8], Stored>> {
        let builder = skep_cache::Cache::builder("sessions of users").ttl(self.rules.idle).clock(self.clock.clone());
        // Nobody clears this cache: its epoch need not be looked up again and again.
        builder.errors().invalidation_lag(Duration::from_hours(24)).build(driver)
    }

    /// Where sessions are that nobody has configured.
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn place(&self) -> skep_cache::Result<(cache::Backend, Blocks)> {
        let (near, blocks) = self.usual()?;
        Ok((Tiers::One(Far::Near(near)), blocks))
    }

    /// The host of a component keeps them where it has been told.
    #[cfg(target_family = "wasm")]
    fn place(&self) -> skep_cache::Result<(cache::Backend, Blocks)> {
        match self.host {
            Some(functions) => Ok((cache::Backend::Host(functions, SESSIONS.into()), false)),
            None => self.usual().map(|(near, blocks)| (cache::Backend::Own(Tiers::One(Far::Near(near))), blocks)),
        }
    }

    #[cfg(feature = "local-tiers")]
    fn usual(&self) -> skep_cache::Result<(Near, Blocks)> {
        let Some(file) = &self.file else { return Ok((Near::Memory(Memory::new(MEMORY)), false)) };
        private::create(file).map_err(|error| {
            skep_cache::Error::unreachable("opening the file of sessions")
                .because(format!("{}: {error}", file.display()))
        })?;
        Ok((Near::Sqlite(skep_cache::Sqlite::open(file)?.max_entries(self.most)?.max_bytes(self.most_bytes)?), true))
    }

    #[cfg(not(feature = "local-tiers"))]
    #[expect(clippy::unnecessary_wraps, reason = "a file may not open, memory can always be had")]
    fn usual(&self) -> skep_cache::Result<(Near, Blocks)> {
        if self.file.is_some() {
            tracing::info!(target: "skep::session", "sessions end with this process: skep was built without `local-tiers`");
        }
        Ok((Near::Memory(Memory::new(MEMORY)), false))
    }
}

impl Rules {
    /// How exactly it is noted when a session was last used.
    pub(super) fn seen_every(self) -> Duration {
        SEEN_EVERY.min(self.idle / 8)
    }

    /// What is nobody's ends earlier, so that it is what ends first where there are too many.
    fn policy_of(self, is_owned: bool) -> EntryPolicy {
        EntryPolicy::new(if is_owned { self.idle } else { self.idle / 4 * 3 })
    }

    fn policy(self, values: &Values) -> EntryPolicy {
        self.policy_of(values.contains_key(OWNER))
    }
}

impl Stored {
    pub(super) fn new(values: Values, now: Time) -> Self {
        Self { begun: now.millis(), seen: now.millis(), over_until: 0, values }
    }

    /// The mark of one that was renewed or ended.
    pub(super) fn over(until: Time) -> Self {
        Self { begun: 0, seen: 0, over_until: until.millis(), values: Values::new() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over_until > 0
    }

    fn found(self, now: Time) -> Found {
        match self.over_until {
            0 => Found::Values(self.values),
            until if until > now.millis() => Found::Over,
            _ => Found::Nothing,
        }
    }
}

impl Change {
    pub(super) fn apply(&self, values: &mut Values, limit: usize) -> Outcome {
        if matches!(&self.when, When::There(expected) if expected.as_ref() != values.get(&*self.name)) {
            return Outcome::Differs;
        }
        let Some(new) = &self.new else {
            values.remove(&*self.name);
            return Outcome::Done;
        };
        let others =
            values.iter().filter(|(name, _)| **name != *self.name).map(|(name, value)| name.len() + value.len());
        let bytes = others.sum::<usize>() + self.name.len() + new.len();
        if bytes > limit {
            return Outcome::TooLarge { bytes, limit };
        }
        values.insert(self.name.clone().into_owned(), new.clone());
        Outcome::Done
    }
}
