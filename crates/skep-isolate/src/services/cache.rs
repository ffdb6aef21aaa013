//! The interface `cache`: entries of components on the configured tiers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use skep::cache::Backend;
use skep::offload::offload;
use skep_cache::driver::{Claim, MAX_KEY, Record, Removal, Stamp, Token, When};
use skep_cache::{Change, Clock, Driver, Error, Pace, Time, Version, driver};
use wasmtime::Result;
use wasmtime::component::{Linker, WasmList, WasmStr};

use super::{Application, Guest};

type Failure = (u8, String);
/// Place, key, version, until, now.
type Remove = (WasmStr, WasmList<u8>, u64, u64, u64);
type HostResult<T> = std::result::Result<T, Failure>;

const INTERFACE: &str = "skep:host/cache@0.1.0";

fn failure(error: &Error) -> Failure {
    let kinds = [(1, error.is_too_large()), (2, error.is_unsupported()), (3, error.is_corrupt())];
    let kind = kinds.into_iter().find(|(_, is)| *is).map_or(0, |(kind, _)| kind);
    (kind, error.to_string())
}

fn unavailable(problem: impl ToString) -> Failure {
    (0, problem.to_string())
}

/// Milliseconds after which a guest reads tags again that another server may have invalidated.
const LAG: u64 = 1000;

/// At most this many leases of an instance are released when it ends.
const MOST_LEASES: usize = 64;

/// A cache of one application, under keys that no other application has.
struct ApplicationCache {
    application: Arc<Application>,
    driver: Arc<Backend>,
    blocks: bool,
}

/// One entry of it.
#[derive(Clone)]
struct Entry {
    kept: Arc<ApplicationCache>,
    key: Vec<u8>,
}

impl ApplicationCache {
    /// Opens a cache, which waits for a disk the first time.
    async fn of(application: Arc<Application>, place: &str) -> HostResult<Self> {
        let opened = if application.hosted.is_open(place) {
            application.hosted.cache(place)
        } else {
            let pool = Arc::clone(&application.hosted.setup().offload);
            let (opening, place) = (Arc::clone(&application), place.to_owned());
            offload(&*pool, move || opening.hosted.cache(&place)).await.map_err(unavailable)?
        };
        let (driver, blocks) = opened.map_err(unavailable)?;
        Ok(Self { application, driver, blocks })
    }

    /// The generation for guests. Where the tiers do not report invalidations of other servers, it changes after a
    /// moment by itself.
    fn told(&self) -> u64 {
        let partial = match self.generation() {
            Stamp::Complete(generation) => return generation,
            Stamp::Partial(generation) => generation,
            Stamp::Unknown => 0,
        };
        let now = self.application.hosted.setup().clock.now();
        // Spread over all bits, so that a change of one summand is not cancelled by the other.
        partial.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(now.millis() / LAG) | 1
    }

    /// The key of an entry, distinct from those of other applications.
    fn key(&self, key: &[u8]) -> Vec<u8> {
        let prefix = &self.application.prefix[..];
        if prefix.len() + key.len() <= MAX_KEY {
            [prefix, key].concat()
        } else {
            [prefix, &Sha256::digest(key)].concat()
        }
    }

    /// Runs what may wait for a disk on the pool.
    async fn change<R, F>(self: Arc<Self>, work: impl FnOnce(Arc<Self>) -> F + Send + 'static) -> HostResult<R>
    where
        R: Send + 'static,
        F: Future<Output = skep_cache::Result<R>> + Send,
    {
        if !self.blocks {
            return work(self).await.map_err(|error| failure(&error));
        }
        let pool = Arc::clone(&self.application.hosted.setup().offload);
        let done = offload(&*pool, move || driver::block_on(work(self))).await;
        done.map_err(unavailable)?.map_err(|error| failure(&error))
    }
}

impl Driver for ApplicationCache {
    fn name(&self) -> &'static str {
        self.driver.name()
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> skep_cache::Result<Option<R>>
    where
        R: Send,
        F: FnOnce(driver::Entry<'_>) -> R + Send,
    {
        self.driver.get(&self.key(key), now, read).await
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> skep_cache::Result<bool> {
        self.driver.set(&self.key(key), record, when, now).await
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> skep_cache::Result<bool> {
        self.driver.remove(&self.key(key), removal, now).await
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> skep_cache::Result<Option<Token>> {
        self.driver.lease(&self.key(key), claim, now).await
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> skep_cache::Result<()> {
        self.driver.release(&self.key(key), token, now).await
    }

    fn abandon(&self, key: &[u8], token: Token, now: Time) {
        self.driver.abandon(&self.key(key), token, now);
    }

    fn generation(&self) -> Stamp {
        self.driver.generation()
    }
}

impl Entry {
    async fn of<T: Guest>(guest: &mut T, place: &str, key: Vec<u8>) -> HostResult<Self> {
        let application = guest.services().application().map_err(unavailable)?;
        let kept = ApplicationCache::of(application, place).await?;
        Ok(Self { kept: Arc::new(kept), key })
    }
}

/// The leases of an instance. They are released when it ends, so that others need not wait.
#[derive(Default)]
pub(super) struct Leases(Vec<(Entry, Token)>);

impl Leases {
    fn note(&mut self, entry: Entry, token: Token) {
        // A lease also expires by itself.
        if self.0.len() < MOST_LEASES {
            self.0.push((entry, token));
        }
    }

    fn forget(&mut self, token: Token) {
        self.0.retain(|(_, held)| *held != token);
    }

    pub(super) fn give_back(&mut self) {
        for (Entry { kept, key }, token) in self.0.drain(..) {
            let setup = kept.application.hosted.setup();
            let (now, pool) = (setup.clock.now(), Arc::clone(&setup.offload));
            if kept.blocks {
                pool.run(Box::new(move || kept.abandon(&key, token, now)));
            } else {
                kept.abandon(&key, token, now);
            }
        }
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Invalidates a tag in all caches of an application.
async fn invalidate(application: Arc<Application>, tag: String) -> HostResult<()> {
    let places: Vec<String> = application.hosted.caches().map(str::to_owned).collect();
    let mut result = Ok(());
    for place in places {
        let tag = tag.clone();
        let kept = Arc::new(ApplicationCache::of(Arc::clone(&application), &place).await?);
        let done = kept.change(move |kept| async move {
            let clock = kept.application.hosted.setup().clock.clone();
            let tags = skep_cache::Cache::<str, ()>::builder("tags").clock(clock).build(Arc::clone(&kept))?;
            tags.invalidate_tag(&tag).await
        });
        // A failure does not keep the others from being invalidated.
        result = result.and(done.await);
    }
    result
}

/// The value, or else the failure is what the function returns.
macro_rules! given {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(failure) => return Ok((Err(failure),)),
        }
    };
}

/// The entry with this name, whose text and bytes are copied before anything waits.
macro_rules! taken {
    ($store:ident, $place:ident, $key:ident) => {{
        let (place, key) = ($place.to_str(&$store)?.into_owned(), $key.as_le_slice(&$store).to_vec());
        given!(Entry::of($store.data_mut(), &place, key).await)
    }};
}

pub(super) fn add_to_linker<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    reading(linker)?;
    counting(linker)?;
    writing(linker)?;
    leasing(linker)
}

fn reading<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("get", |mut store, (place, key, now): (WasmStr, WasmList<u8>, u64)| {
        Box::new(async move {
            let entry = taken!(store, place, key);
            let read = |entry: driver::Entry<'_>| entry.as_bytes().to_vec();
            let got = entry.kept.get(&entry.key, Time::from_millis(now), read).await;
            Ok((got.map_err(|error| failure(&error)),))
        })
    })?;
    cache.func_wrap_async("generation", |mut store, (place,): (WasmStr,)| {
        Box::new(async move {
            let place = place.to_str(&store)?.into_owned();
            let Ok(application) = store.data_mut().services().application() else { return Ok((0,)) };
            let kept = ApplicationCache::of(application, &place).await;
            Ok((kept.ok().map_or(0, |kept| kept.told()),))
        })
    })?;
    cache.func_wrap("version", |mut store, (): ()| {
        let application = store.data_mut().services().application();
        let clock =
            application.map_or_else(|_| Clock::system(), |application| application.hosted.setup().clock.clone());
        Ok((clock.version().to_u64(),))
    })
}

fn counting<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    type Count = (WasmStr, WasmStr, u8, u32, u64, WasmList<u8>);
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("count", |mut store, (place, key, kind, burst, each, network): Count| {
        Box::new(async move {
            let (place, key) = (place.to_str(&store)?.into_owned(), key.to_str(&store)?.into_owned());
            let network = network.as_le_slice(&store).to_vec();
            let application = given!(store.data_mut().services().application().map_err(unavailable));
            let rate = Pace { burst, each: Duration::from_micros(each) };
            let change = match kind {
                0 => Change::Add(rate),
                1 => Change::GiveBack(rate),
                2 => Change::Clear,
                _ => return Ok((Err(unavailable("there is no such change")),)),
            };
            // Applications may share a tier.
            let key = format!("{:x}:{key}", u64::from_be_bytes(application.prefix));
            Ok((application.hosted.count(&place, &key, change, &network).await.map_err(unavailable),))
        })
    })
}

fn writing<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    type Set = (WasmStr, WasmList<u8>, WasmList<u8>, u8, u64, u64);
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("set", |mut store, (place, key, bytes, when, number, now): Set| {
        Box::new(async move {
            let bytes = bytes.as_le_slice(&store).to_vec();
            let entry = taken!(store, place, key);
            let record = given!(Record::parse(bytes.into()).map_err(|error| failure(&error)));
            let when = given!(condition(when, number).ok_or_else(|| unavailable("there is no such condition")));
            let set = entry
                .kept
                .change(move |kept| async move { kept.set(&entry.key, &record, when, Time::from_millis(now)).await })
                .await;
            if let (When::Leased(token), Ok(true)) = (when, &set) {
                store.data_mut().services().leases.forget(token);
            }
            Ok((set,))
        })
    })?;
    cache.func_wrap_async("remove", |mut store, (place, key, version, until, now): Remove| {
        Box::new(async move {
            let entry = taken!(store, place, key);
            let removal = Removal { version: Version::from_u64(version), until: Time::from_millis(until) };
            let removed = entry
                .kept
                .change(move |kept| async move { kept.remove(&entry.key, removal, Time::from_millis(now)).await });
            Ok((removed.await,))
        })
    })?;
    cache.func_wrap_async("invalidate", |mut store, (tag,): (WasmStr,)| {
        Box::new(async move {
            let tag = tag.to_str(&store)?.into_owned();
            let application = given!(store.data_mut().services().application().map_err(unavailable));
            Ok((invalidate(application, tag).await,))
        })
    })
}

fn leasing<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    type Lease = (WasmStr, WasmList<u8>, u64, u64, u64);
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("lease", |mut store, (place, key, token, until, now): Lease| {
        Box::new(async move {
            let entry = taken!(store, place, key);
            let claim = Claim { token: Token(token), until: Time::from_millis(until) };
            let held = entry.clone();
            let leased = entry
                .kept
                .change(move |kept| async move { kept.lease(&entry.key, claim, Time::from_millis(now)).await })
                .await;
            if let Ok(Some(token)) = &leased {
                store.data_mut().services().leases.note(held, *token);
            }
            Ok((leased.map(|token| token.map(|token| token.0)),))
        })
    })?;
    cache.func_wrap_async("release", |mut store, (place, key, token, now): (WasmStr, WasmList<u8>, u64, u64)| {
        Box::new(async move {
            let entry = taken!(store, place, key);
            store.data_mut().services().leases.forget(Token(token));
            let released = entry.kept.change(move |kept| async move {
                kept.release(&entry.key, Token(token), Time::from_millis(now)).await
            });
            Ok((released.await,))
        })
    })
}

fn condition(when: u8, number: u64) -> Option<When> {
    Some(match when {
        0 => When::Always,
        1 => When::Absent,
        2 => When::Version(Version::from_u64(number)),
        3 => When::Newer,
        4 => When::Leased(Token(number)),
        _ => return None,
    })
}
