//! The interface `cache`: entries of components on the tiers that are configured.

use std::future::Future;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use skep::cache::Place;
use skep::offload::offload;
use skep_cache::driver::{Claim, MAX_KEY, Record, Removal, Token, When};
use skep_cache::{Driver, Error, Time, Version, driver};
use wasmtime::Result;
use wasmtime::component::{Linker, WasmList, WasmStr};

use super::{Application, Guest};

type Failure = (u8, String);
type Kept<T> = std::result::Result<T, Failure>;

/// Of a cache of the skep in the component.
const INTERFACE: &str = "skep:host/cache@0.1.0";

fn failure(error: &Error) -> Failure {
    let kind = match () {
        () if error.is_too_large() => 1,
        () if error.is_unsupported() => 2,
        () if error.is_corrupt() => 3,
        () => 0,
    };
    (kind, error.to_string())
}

fn unavailable(problem: impl ToString) -> Failure {
    (0, problem.to_string())
}

/// One entry, and where it is kept.
struct Entry {
    application: Arc<Application>,
    driver: Arc<Place>,
    blocks: bool,
    key: Vec<u8>,
}

impl Entry {
    fn of<T: Guest>(guest: &mut T, place: &str, key: &[u8]) -> Kept<Self> {
        let application = guest.services().application().map_err(unavailable)?;
        let (driver, blocks) = application.hosted.cache(place).map_err(unavailable)?;
        let key = application.key(key);
        Ok(Self { application, driver, blocks, key })
    }

    /// Does what may wait for a disk where that harms no one.
    async fn change<R, F>(self, work: impl FnOnce(Self) -> F + Send + 'static) -> Kept<R>
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

impl Application {
    /// The key of an entry among those of all applications.
    fn key(&self, key: &[u8]) -> Vec<u8> {
        if self.prefix.len() + key.len() <= MAX_KEY {
            return [&self.prefix, key].concat();
        }
        [&self.prefix[..], &Sha256::digest(key)].concat()
    }
}

/// Text and bytes of a component, copied out of its memory before anything waits.
macro_rules! taken {
    ($store:ident, $place:ident, $key:ident) => {{
        let (place, key) = ($place.to_str(&$store)?.into_owned(), $key.as_le_slice(&$store).to_vec());
        Entry::of($store.data_mut(), &place, &key)
    }};
}

pub(super) fn add_to_linker<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    reading(linker)?;
    writing(linker)?;
    leasing(linker)
}

fn reading<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("get", |mut store, (place, key, now): (WasmStr, WasmList<u8>, u64)| {
        Box::new(async move {
            let entry = match taken!(store, place, key) {
                Ok(entry) => entry,
                Err(failure) => return Ok((Err(failure),)),
            };
            let read = |entry: driver::Entry<'_>| entry.as_bytes().to_vec();
            let got = entry.driver.get(&entry.key, Time::from_millis(now), read).await;
            Ok((got.map_err(|error| failure(&error)),))
        })
    })?;
    cache.func_wrap("generation", |mut store, (place,): (WasmStr,)| {
        let place = place.to_str(&store)?.into_owned();
        let application = store.data_mut().services().application();
        let cache = application.and_then(|application| application.hosted.cache(&place).map_err(|error| error.to_string()));
        Ok((cache.ok().and_then(|(driver, _)| driver.generation()).unwrap_or(0),))
    })
}

fn writing<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    type Set = (WasmStr, WasmList<u8>, WasmList<u8>, u8, u64, u64);
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("set", |mut store, (place, key, bytes, when, number, now): Set| {
        Box::new(async move {
            let bytes = bytes.as_le_slice(&store).to_vec();
            let (entry, record) = match (taken!(store, place, key), Record::parse(bytes.into())) {
                (Ok(entry), Ok(record)) => (entry, record),
                (Err(failure), _) => return Ok((Err(failure),)),
                (_, Err(error)) => return Ok((Err(failure(&error)),)),
            };
            let Some(when) = condition(when, number) else { return Ok((Err(unavailable("there is no such condition")),)) };
            let set = entry.change(move |entry| async move {
                entry.driver.set(&entry.key, &record, when, Time::from_millis(now)).await
            });
            Ok((set.await,))
        })
    })?;
    type Remove = (WasmStr, WasmList<u8>, u64, u64, u64);
    cache.func_wrap_async("remove", |mut store, (place, key, version, until, now): Remove| {
        Box::new(async move {
            let entry = match taken!(store, place, key) {
                Ok(entry) => entry,
                Err(failure) => return Ok((Err(failure),)),
            };
            let removal = Removal { version: Version::from_u64(version), until: Time::from_millis(until) };
            let removed = entry.change(move |entry| async move {
                entry.driver.remove(&entry.key, removal, Time::from_millis(now)).await
            });
            Ok((removed.await,))
        })
    })?;
    cache.func_wrap_async("invalidate", |mut store, (tag,): (WasmStr,)| {
        Box::new(async move {
            let tag = tag.to_str(&store)?.into_owned();
            let application = match store.data_mut().services().application() {
                Ok(application) => application,
                Err(problem) => return Ok((Err(unavailable(problem)),)),
            };
            Ok((application.invalidate(tag).await,))
        })
    })
}

fn leasing<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    type Lease = (WasmStr, WasmList<u8>, u64, u64, u64);
    let mut cache = linker.instance(INTERFACE)?;
    cache.func_wrap_async("lease", |mut store, (place, key, token, until, now): Lease| {
        Box::new(async move {
            let entry = match taken!(store, place, key) {
                Ok(entry) => entry,
                Err(failure) => return Ok((Err(failure),)),
            };
            let claim = Claim { token: Token(token), until: Time::from_millis(until) };
            let leased = entry.change(move |entry| async move {
                entry.driver.lease(&entry.key, claim, Time::from_millis(now)).await
            });
            Ok((leased.await.map(|token| token.map(|token| token.0)),))
        })
    })?;
    cache.func_wrap_async("release", |mut store, (place, key, token, now): (WasmStr, WasmList<u8>, u64, u64)| {
        Box::new(async move {
            let entry = match taken!(store, place, key) {
                Ok(entry) => entry,
                Err(failure) => return Ok((Err(failure),)),
            };
            let released = entry.change(move |entry| async move {
                entry.driver.release(&entry.key, Token(token), Time::from_millis(now)).await
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
