//! Who takes part: each is a name, and how to start it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::load::{self, Cache, Figure, KeyPosition, Keys, Mix};
use crate::{Result, worker};

mod local;
mod perl;
mod process;
mod server;
mod skep;

use process::Process;

/// What can be put under load, in this process or others.
pub(crate) trait Peer {
    /// Stores every key once, with a value of `bytes` bytes.
    fn fill(&mut self, bytes: usize) -> Result<()>;

    /// The loop, for about `time`.
    fn run(&mut self, mix: Mix, time: Duration) -> Result<Figure>;
}

/// What a peer needs to start.
pub(crate) struct Start {
    /// Where its files go, and where the sockets of the servers are.
    pub(crate) folder: PathBuf,
    /// Where the files go that processes share as memory: /dev/shm, as the guide recommends.
    pub(crate) memory: PathBuf,
    /// memcached's host and port.
    pub(crate) memcached_tcp: String,
    pub(crate) keys: Arc<Keys>,
    /// Room for its entries, in bytes.
    pub(crate) room: u64,
}

impl Start {
    pub(crate) fn new([folder, memory]: [PathBuf; 2], memcached_tcp: String, keys: usize, room: u64) -> Self {
        Self { folder, memory, memcached_tcp, keys: Arc::new(Keys::new(keys)), room }
    }

    /// memcached's socket.
    pub(crate) fn memcached(&self) -> PathBuf {
        self.folder.join("memcached.sock")
    }

    /// Redis' socket.
    pub(crate) fn redis(&self) -> PathBuf {
        self.folder.join("redis.sock")
    }

    /// The file with the keys.
    pub(crate) fn keys_file(&self) -> PathBuf {
        self.folder.join("keys")
    }
}

/// A name in the tables, and how it starts.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) start: fn(&Start) -> Result<Box<dyn Peer>>,
}

const fn entry(name: &'static str, start: fn(&Start) -> Result<Box<dyn Peer>>) -> Entry {
    Entry { name, start }
}

/// Everybody, ours first.
pub(crate) const ENTRIES: &[Entry] = &[
    entry("skep null", skep::null),
    entry("skep null, Cache", skep::cached_null),
    entry("skep memory", skep::memory),
    entry("skep memory, Cache", skep::cached_memory),
    entry("skep shared", skep::shared),
    entry("skep shared, Cache", skep::cached_shared),
    entry("skep file", skep::file),
    entry("skep file, Cache", skep::cached_file),
    entry("skep sqlite", skep::sqlite),
    entry("skep sqlite, Cache", skep::cached_sqlite),
    entry("skep memcached, unix", skep::memcached_unix),
    entry("skep memcached, unix, Cache", skep::cached_memcached_unix),
    entry("skep redis, unix", skep::redis_unix),
    entry("skep redis, unix, Cache", skep::cached_redis_unix),
    entry("skep memory + memcached, unix", skep::tiers),
    entry("skep memory + memcached, unix, Cache", skep::cached_tiers),
    entry("skep memcached, tcp", skep::memcached_tcp),
    entry("skep memcached, tcp, Cache", skep::cached_memcached_tcp),
    entry("moka", local::moka),
    entry("quick_cache", local::quick),
    entry("foyer", local::foyer),
    entry("memcache crate, unix", server::memcache_unix),
    entry("memcache crate ascii, unix", server::memcache_ascii),
    entry("memcache crate, tcp", server::memcache_tcp),
    entry("async-memcached, unix", server::async_memcached),
    entry("memcached, bare socket", server::bare_memcached),
    entry("redis crate, unix", server::redis_sync),
    entry("redis crate async, unix", server::redis_async),
    entry("fred, unix", server::fred),
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
    place: KeyPosition,
}

/// A runtime for one thread; what needs none pays nothing for it, since a block of load enters it once.
fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn here<C: Cache + 'static>(start: &Start, cache: C) -> Result<Box<dyn Peer>> {
    Ok(within(start, runtime()?, cache))
}

fn within<C: Cache + 'static>(start: &Start, runtime: Runtime, cache: C) -> Box<dyn Peer> {
    Box::new(Here { cache, runtime, keys: start.keys.clone(), place: KeyPosition::default() })
}

impl<C: Cache> Peer for Here<C> {
    fn fill(&mut self, bytes: usize) -> Result<()> {
        self.runtime.block_on(load::fill(&mut self.cache, &self.keys, &vec![b'f'; bytes]))
    }

    fn run(&mut self, mix: Mix, time: Duration) -> Result<Figure> {
        let Self { cache, runtime, keys, place } = self;
        runtime.block_on(load::run(cache, keys, place, mix, time))
    }
}

/// Several processes of ours with a peer in each, under the same load at the same time, each on a core of its own.
pub(crate) fn processes(name: &str, count: usize, start: &Start) -> Result<Box<dyn Peer>> {
    let process = |number| Process::start(name, &worker::command(name, number, start)?);
    let all: Result<Vec<Process>> = (0..count).map(process).collect();
    Ok(Box::new(all?))
}
