//! The post on Perl's caches, on our drivers: 36-character keys, one store to so many reads, each driver called directly and
//! through `Cache`.

use std::cell::Cell;
use std::fmt;
use std::fmt::Write;
use std::fs;
use std::future::Future;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use skep_cache::driver::{Header, Record, When};
use skep_cache::{Cache, Clock, Driver, File, Memcached, Memory, Null, Raw, Redis, Shared, Time};
use tokio::runtime::Runtime;

use super::{Play, Work, play};
use crate::compare::Rounds;
use crate::random::Random;

/// Enough that no key is in the processor's nearest cache by chance, few enough that a file system does not matter.
const KEYS: usize = 1000;

/// Room for all of them several times over: nothing is evicted.
const ROOM: u32 = 64 << 20;

/// How long a key is, as a UUID is written.
const KEY: usize = 36;

/// So many stores and so many reads in turn, of values of this size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mix {
    pub(crate) sets: u32,
    pub(crate) gets: u32,
    pub(crate) bytes: usize,
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}, {} bytes", self.sets, self.gets, self.bytes)
    }
}

/// Servers to measure beside what is in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backends {
    /// `host:port` or the path of a socket.
    pub(crate) memcached: Option<String>,
    /// A URL.
    pub(crate) redis: Option<String>,
}

/// Each mix, with every driver, direct and through `Cache`.
pub(crate) fn run(mixes: &[Mix], backends: &Backends, how: Play, say: impl Fn(&str)) -> Result<Vec<Rounds>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let folder = Folder::new()?;
    let keys = keys();
    let mut experiments = Vec::new();
    for mix in mixes {
        let mut works = works(*mix, backends, &runtime, &folder.0, &keys)?;
        let rounds = play(&format!("stores:reads {mix}"), &mut works, how)?;
        say(&format!("{mix}: done"));
        experiments.push(rounds);
    }
    Ok(experiments)
}

fn works<'a>(
    mix: Mix,
    backends: &Backends,
    runtime: &'a Runtime,
    folder: &Path,
    keys: &'a [String],
) -> Result<Vec<(String, Work<'a>)>, String> {
    let own = |name: &str| folder.join(format!("{name}-{}-{}-{}", mix.sets, mix.gets, mix.bytes));
    let shared = |name: &str| Shared::at(own(name), ROOM as usize).open().map_err(|error| format!("shared: {error}"));
    let file =
        |name: &str| File::builder(own(name)).max_bytes(ROOM.into()).open().map_err(|error| format!("file: {error}"));
    let mut works = Vec::new();
    both(&mut works, "null", || Ok(Null), mix, runtime, keys)?;
    both(&mut works, "memory", || Ok(Memory::new(ROOM.into())), mix, runtime, keys)?;
    let count = Cell::new(0);
    let next = |name: &str| {
        count.set(count.get() + 1);
        format!("{name}-{}", count.get())
    };
    both(&mut works, "shared", || shared(&next("shared")), mix, runtime, keys)?;
    both(&mut works, "file", || file(&next("file")), mix, runtime, keys)?;
    if let Some(address) = &backends.memcached {
        let open = || {
            let _inside = runtime.enter();
            Memcached::builder().server(address.as_str(), 1).build().map_err(|error| format!("memcached: {error}"))
        };
        both(&mut works, "memcached", open, mix, runtime, keys)?;
    }
    if let Some(url) = &backends.redis {
        let open = || {
            let _inside = runtime.enter();
            Redis::builder(url.as_str()).build().map_err(|error| format!("redis: {error}"))
        };
        both(&mut works, "redis", open, mix, runtime, keys)?;
    }
    Ok(works)
}

/// A driver called directly, and another of its kind through `Cache`.
fn both<'a, D: Driver>(
    works: &mut Vec<(String, Work<'a>)>,
    name: &str,
    open: impl Fn() -> Result<D, String>,
    mix: Mix,
    runtime: &'a Runtime,
    keys: &'a [String],
) -> Result<(), String> {
    let value = vec![b'x'; mix.bytes];
    let misses = name != "null";
    works.push((name.to_owned(), direct(open()?, value.clone(), mix, runtime, keys, misses)?));
    let cache = Cache::<str, Vec<u8>>::builder("bench").codec(Raw).errors().build(open()?);
    let cache = cache.map_err(|error| format!("{name}: {error}"))?;
    let cached = through(cache, value, mix, runtime, keys, misses)?;
    works.push((format!("{name}+Cache"), cached));
    Ok(())
}

fn direct<'a, D: Driver>(
    driver: D,
    value: Vec<u8>,
    mix: Mix,
    runtime: &'a Runtime,
    keys: &'a [String],
    misses: bool,
) -> Result<Work<'a>, String> {
    let clock = Clock::system();
    let set = move |driver: &D, key: &str| {
        let header =
            Header { version: clock.version(), fresh_until: Time::NEVER, dead_at: Time::NEVER, ..Header::default() };
        let record = Record::new(&header, &[], &value);
        let now = clock.now();
        let set = ready(runtime, driver.set(key.as_bytes(), &record, When::Always, now));
        set.map(|_| ()).map_err(|error| error.to_string())
    };
    let clock = Clock::system();
    let get = move |driver: &D, key: &str| {
        let found = ready(runtime, driver.get(key.as_bytes(), clock.now(), |entry| seen(entry.value())));
        found.map_err(|error| error.to_string())
    };
    work(driver, set, get, mix, keys, misses)
}

fn through<'a, D: Driver>(
    cache: Cache<str, Vec<u8>, D, Raw>,
    value: Vec<u8>,
    mix: Mix,
    runtime: &'a Runtime,
    keys: &'a [String],
    misses: bool,
) -> Result<Work<'a>, String> {
    let set = move |cache: &Cache<str, Vec<u8>, D, Raw>, key: &str| {
        ready(runtime, cache.set(key, &value)).map(|_| ()).map_err(|error| error.to_string())
    };
    let get = move |cache: &Cache<str, Vec<u8>, D, Raw>, key: &str| {
        ready(runtime, cache.read(key, seen)).map_err(|error| error.to_string())
    };
    work(cache, set, get, mix, keys, misses)
}

/// What is ready at once costs no runtime; what waits for a server does.
fn ready<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let _inside = runtime.enter();
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => runtime.block_on(future),
    }
}

/// Stores every key once, and then stores and reads in turn, going on where it was.
fn work<'a, C: 'a>(
    cache: C,
    set: impl Fn(&C, &str) -> Result<(), String> + 'a,
    get: impl Fn(&C, &str) -> Result<Option<usize>, String> + 'a,
    mix: Mix,
    keys: &'a [String],
    misses: bool,
) -> Result<Work<'a>, String> {
    keys.iter().try_for_each(|key| set(&cache, key))?;
    let (mut place, mut step) = (0, 0);
    Ok(Box::new(move |count| {
        let mut lost = 0;
        for _ in 0..count {
            let key = &keys[place];
            place = if place + 1 == keys.len() { 0 } else { place + 1 };
            if step < mix.sets {
                set(&cache, key)?;
            } else if get(&cache, key)? != Some(mix.bytes) && misses {
                lost += 1;
            }
            step = if step + 1 == mix.sets + mix.gets { 0 } else { step + 1 };
        }
        Ok(lost)
    }))
}

/// Touches every cache line of a value, as whoever asked for it would: a borrowed one would else cost nothing.
fn seen(value: &[u8]) -> usize {
    black_box(value.iter().step_by(64).fold(0, |sum, byte| sum ^ byte));
    value.len()
}

/// Keys in the form of a UUID, the same in each run.
fn keys() -> Vec<String> {
    let mut random = Random::from_seed(36);
    let mut key = || {
        let (high, low) = (random.number(), random.number());
        let mut key = String::with_capacity(KEY);
        let _ = write!(key, "{:08x}-{:04x}-{:04x}-", high >> 32, high >> 16 & 0xffff, high & 0xffff);
        let _ = write!(key, "{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff);
        key
    };
    (0..KEYS).map(|_| key()).collect()
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("skep-bench-cache-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::compare::Measure;

    #[test]
    fn keys_have_36_characters_and_each_comes_once() {
        let keys = keys();
        assert!(keys.iter().all(|key| key.len() == KEY));
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), KEYS);
    }

    #[test]
    fn every_driver_finds_what_was_stored() {
        let mix = Mix { sets: 1, gets: 3, bytes: 16 };
        let how = Play { rounds: 1, time: Duration::from_millis(2), seed: None };
        let experiments = run(&[mix], &Backends::default(), how, |_| ()).unwrap();
        let rounds = &experiments[0];
        let names: Vec<&str> = rounds.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names[..4], ["null", "null+Cache", "memory", "memory+Cache"]);
        assert_eq!(names[4..], ["shared", "shared+Cache", "file", "file+Cache"]);
        for (place, name) in names.iter().enumerate() {
            assert_eq!(rounds.median(place, Measure::Errors), Some(0.0), "{name}");
            assert!(rounds.median(place, Measure::Rate).unwrap() > 0.0);
        }
    }

    #[test]
    fn a_backend_that_is_not_there_is_named() {
        let backends = Backends { memcached: Some("127.0.0.1:1".into()), redis: None };
        let how = Play { rounds: 1, time: Duration::from_millis(1), seed: None };
        let error = run(&[Mix { sets: 1, gets: 1, bytes: 1 }], &backends, how, |_| ()).unwrap_err();
        assert!(error.contains("127.0.0.1:1"), "{error}");
    }
}
