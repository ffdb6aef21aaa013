//! Who takes part: each is a name, and how to start it.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::Result;
use crate::load::{self, Cache, Figure, Keys, Mix, Place};
use crate::site::Site;

mod local;
mod perl;
mod server;
mod skep;

/// What can be put under load, in this process or another.
pub(crate) trait Peer {
    /// Stores every key once, not measured, then the loop for about `time`.
    fn work(&mut self, mix: Mix, time: Duration) -> Result<Figure>;
}

/// What a peer needs to start.
pub(crate) struct Start<'a> {
    pub(crate) site: &'a Site,
    pub(crate) keys: &'a Arc<Keys>,
    /// Room for its entries, in bytes.
    pub(crate) room: u64,
}

/// A name in the tables, and how it starts.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) start: fn(&Start<'_>) -> Result<Box<dyn Peer>>,
}

const fn entry(name: &'static str, start: fn(&Start<'_>) -> Result<Box<dyn Peer>>) -> Entry {
    Entry { name, start }
}

/// Everybody, ours first.
pub(crate) const ENTRIES: &[Entry] = &[
    entry("skep memory", skep::memory),
    entry("moka", local::moka),
    entry("quick_cache", local::quick),
    entry("foyer", local::foyer),
    entry("memcache crate, unix", server::memcache_unix),
    entry("memcache crate, tcp", server::memcache_tcp),
    entry("async-memcached, unix", server::async_memcached),
    entry("memcached, bare socket", server::bare_memcached),
    entry("redis crate, unix", server::redis_sync),
    entry("redis crate async, unix", server::redis_async),
    entry("redis, bare socket", server::bare_redis),
    entry("CHI Memory", perl::chi_memory),
    entry("CHI FastMmap", perl::chi_fastmmap),
    entry("CHI Memcached, unix", perl::chi_memcached_unix),
    entry("CHI Memcached, tcp", perl::chi_memcached_tcp),
    entry("CHI Memcached, tcp, l1", perl::chi_l1),
    entry("Cache::FastMmap", perl::fastmmap),
    entry("Cache::Memcached::Fast, unix", perl::memcached_fast_unix),
    entry("Cache::Memcached::Fast, tcp", perl::memcached_fast_tcp),
    entry("Cache::Memcached, tcp", perl::memcached_tcp),
];

/// A cache that is called from this process.
struct Here<C> {
    cache: C,
    runtime: Runtime,
    keys: Arc<Keys>,
    place: Place,
}

/// A runtime for one thread; what needs none pays nothing for it, since a block of load enters it once.
fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn here<C: Cache + 'static>(start: &Start<'_>, cache: C) -> Result<Box<dyn Peer>> {
    within(start, runtime()?, cache)
}

fn within<C: Cache + 'static>(start: &Start<'_>, runtime: Runtime, cache: C) -> Result<Box<dyn Peer>> {
    Ok(Box::new(Here { cache, runtime, keys: start.keys.clone(), place: Place::default() }))
}

impl<C: Cache> Peer for Here<C> {
    fn work(&mut self, mix: Mix, time: Duration) -> Result<Figure> {
        let Self { cache, runtime, keys, place } = self;
        runtime.block_on(async {
            load::fill(cache, keys, &vec![b'f'; mix.bytes]).await?;
            load::run(cache, keys, place, mix, time).await
        })
    }
}
