//! One tier: what it is, as described, and the driver that comes of it.

use std::path::Path;
#[cfg(any(feature = "sqlite", all(feature = "shared", unix)))]
use std::path::PathBuf;
use std::time::Duration;

use super::Needs;
use super::choice::{answer, choice};
use super::words::{self, Words, Wrong};
use crate::clock::Time;
use crate::driver::{Claim, Entry, Listener, Ready, Record, Removal, Token, Usage, When};
use crate::error::Result;
use crate::null::Null;
use crate::tiered::Writes;

/// A tier as it was described.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    kind: Kind,
    /// How what is written reaches it, and how old its copies may become, if something stands behind it.
    pub(super) writes: Option<Writes>,
    pub(super) bound: Option<Duration>,
}

#[derive(Clone, Debug)]
enum Kind {
    Null,
    #[cfg(feature = "memory")]
    Memory {
        bytes: u64,
        entries: u64,
    },
    #[cfg(all(feature = "shared", unix))]
    Shared {
        bytes: usize,
        place: Place,
        largest: Option<usize>,
    },
    #[cfg(feature = "file")]
    File {
        builder: crate::file::FileBuilder,
        pool: bool,
    },
    #[cfg(feature = "sqlite")]
    Sqlite {
        path: PathBuf,
        table: String,
        busy: Option<Duration>,
        entries: Option<u64>,
        pool: bool,
    },
    #[cfg(feature = "memcached")]
    Memcached(crate::memcached::Builder),
    #[cfg(feature = "redis")]
    Redis(crate::redis::Builder),
}

/// Where a shared map is.
#[cfg(all(feature = "shared", unix))]
#[derive(Clone, Debug)]
enum Place {
    /// See [`usual_path`].
    Usual,
    At(PathBuf),
    /// See [`Shared::nameless`](crate::Shared::nameless).
    Nowhere,
}

choice! {
    /// What can stand in front: it answers at once. See [`Tiers`](super::Tiers).
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(clippy::large_enum_variant, reason = "there is one of it for each cache")]
    pub enum Near {
        /// Keeps nothing.
        Null(Null),
        /// In this process.
        #[cfg(feature = "memory")]
        Memory(crate::Memory),
        /// In a file that processes map.
        #[cfg(all(feature = "shared", unix))]
        Shared(crate::Shared),
        /// One file for each entry.
        #[cfg(feature = "file")]
        File(crate::File),
        /// In a table.
        #[cfg(feature = "sqlite")]
        Sqlite(crate::Sqlite),
    }
}

impl Ready for Near {}

choice! {
    /// What can stand behind, or alone. See [`Tiers`](super::Tiers).
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(clippy::large_enum_variant, reason = "there is one of it for each cache")]
    pub enum Far {
        /// One that could also stand in front.
        Near(Near),
        /// Files, off the threads that serve.
        #[cfg(all(feature = "file", feature = "pool"))]
        FilePool(crate::OnPool<crate::File>) boxed,
        /// A table, off the threads that serve.
        #[cfg(all(feature = "sqlite", feature = "pool"))]
        SqlitePool(crate::OnPool<crate::Sqlite>) boxed,
        /// On memcached's servers.
        #[cfg(feature = "memcached")]
        Memcached(crate::Memcached) boxed,
        /// On Redis or a cluster of it.
        #[cfg(feature = "redis")]
        Redis(crate::Redis) boxed,
    }
}

/// What there is, with the feature that it needs.
const KINDS: [(&str, &str); 9] = [
    ("memory", "memory"),
    ("shared", "shared"),
    ("file", "file"),
    ("sqlite", "sqlite"),
    ("memcached", "memcached"),
    ("redis", "redis"),
    ("rediss", "redis-tls"),
    ("redis-cluster", "redis-cluster"),
    ("null", ""),
];

impl Tier {
    pub(super) fn parse(text: &str, is_last: bool) -> Result<Self, Wrong> {
        let mut words = Words::parse(text)?;
        let kind = kind(&mut words)?;
        let (mut writes, mut bound) = (None, None);
        if !is_last {
            if !kind.is_near() {
                return Err(format!(
                    "{} cannot stand in front of another tier: it does not answer at once",
                    words.kind
                ));
            }
            writes = words.take("writes", words::writes)?;
            bound = words.take("bound", words::time)?;
        }
        words.finish()?;
        Ok(Self { kind, writes, bound })
    }

    /// See [`Plan::needs`](super::Plan::needs).
    pub(super) fn needs(&self) -> Needs {
        let here =
            Needs { runtime: false, blocks: false, survives_fork: true, keeps_nothing: false, leaves_process: false };
        match &self.kind {
            Kind::Null => Needs { keeps_nothing: true, ..here },
            #[cfg(feature = "memory")]
            Kind::Memory { .. } => here,
            #[cfg(all(feature = "shared", unix))]
            Kind::Shared { .. } => Needs { leaves_process: true, ..here },
            #[cfg(feature = "file")]
            Kind::File { pool, .. } => on_disk(*pool),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite { pool, .. } => on_disk(*pool),
            #[cfg(feature = "memcached")]
            Kind::Memcached(_) => far(),
            #[cfg(feature = "redis")]
            Kind::Redis(_) => far(),
        }
    }

    /// The driver of a tier in front. `name` is for files whose description has no path.
    pub(super) fn near(&self, name: &str) -> Result<Near> {
        match self.open(name)? {
            Far::Near(near) => Ok(near),
            #[allow(unreachable_patterns, reason = "without the other drivers, all are near")]
            _ => unreachable!("`parse` lets none but near ones stand in front"),
        }
    }

    /// The driver.
    #[cfg_attr(
        not(any(feature = "file", feature = "sqlite", feature = "memcached", feature = "redis")),
        allow(clippy::unnecessary_wraps, reason = "memory and nothing can always be had")
    )]
    pub(super) fn open(&self, name: &str) -> Result<Far> {
        let _ = name;
        Ok(match &self.kind {
            Kind::Null => Far::Near(Near::Null(Null)),
            #[cfg(feature = "memory")]
            Kind::Memory { bytes, entries } => Far::Near(Near::Memory(crate::Memory::bounded(*bytes, *entries))),
            #[cfg(all(feature = "shared", unix))]
            Kind::Shared { bytes, place, largest } => {
                let mut options = match place {
                    Place::Usual => crate::Shared::at(usual_path(name), *bytes),
                    Place::At(path) => crate::Shared::at(path, *bytes),
                    Place::Nowhere => crate::Shared::nameless(*bytes),
                };
                if let Some(largest) = *largest {
                    options = options.largest(largest);
                }
                // The error of the system does not always name the file.
                let failed = |error| crate::Error::misused("the shared map cannot be opened").because(error);
                Far::Near(Near::Shared(options.open().map_err(failed)?))
            }
            #[cfg(feature = "file")]
            Kind::File { builder, pool } => file(builder.clone().open()?, *pool),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite { path, table, busy, entries, pool } => {
                let mut driver = crate::Sqlite::open_table(path, table)?;
                if let Some(busy) = *busy {
                    driver = driver.busy(busy);
                }
                if let Some(entries) = *entries {
                    driver = driver.most(entries)?;
                }
                sqlite(driver, *pool)
            }
            #[cfg(feature = "memcached")]
            Kind::Memcached(builder) => Far::Memcached(builder.clone().build()?),
            #[cfg(feature = "redis")]
            Kind::Redis(builder) => Far::Redis(builder.clone().build()?),
        })
    }
}

/// Files and tables are opened by each process for itself; on a pool, where there is a runtime, its other threads wait for them.
#[cfg(any(feature = "file", feature = "sqlite"))]
fn on_disk(pool: bool) -> Needs {
    Needs { runtime: false, blocks: !pool, survives_fork: false, keeps_nothing: false, leaves_process: true }
}

/// Connections are one process's.
#[cfg(any(feature = "memcached", feature = "redis"))]
fn far() -> Needs {
    Needs { runtime: true, blocks: false, survives_fork: false, keeps_nothing: false, leaves_process: true }
}

impl Kind {
    fn is_near(&self) -> bool {
        match self {
            Self::Null => true,
            #[cfg(feature = "memory")]
            Self::Memory { .. } => true,
            #[cfg(all(feature = "shared", unix))]
            Self::Shared { .. } => true,
            #[cfg(feature = "file")]
            Self::File { pool, .. } => !pool,
            #[cfg(feature = "sqlite")]
            Self::Sqlite { pool, .. } => !pool,
            #[cfg(feature = "memcached")]
            Self::Memcached(_) => false,
            #[cfg(feature = "redis")]
            Self::Redis(_) => false,
        }
    }
}

fn kind(words: &mut Words<'_>) -> Result<Kind, Wrong> {
    match words.kind {
        "null" if words.main.is_empty() => Ok(Kind::Null),
        "null" => Err(format!("null takes nothing, and `{}` follows it", words.main)),
        #[cfg(feature = "memory")]
        "memory" => Ok(Kind::Memory {
            bytes: words::size(words.main)?,
            entries: words.take("entries", words::number)?.unwrap_or(u64::MAX),
        }),
        #[cfg(all(feature = "shared", unix))]
        "shared" => Ok(Kind::Shared {
            bytes: words::room(words.main)?,
            place: match words.take("path", words::path)? {
                None => Place::Usual,
                Some(path) if path.as_os_str() == "none" => Place::Nowhere,
                Some(path) => Place::At(path),
            },
            largest: words.take("largest", words::room)?,
        }),
        #[cfg(feature = "file")]
        "file" => file_of(words),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Kind::Sqlite {
            path: words::path(words.main).map_err(|_| "right would be \"sqlite:/var/lib/blog/cache.db\"")?,
            table: words.take("table", |name| Ok(name.to_owned()))?.unwrap_or_else(|| "skep_cache".to_owned()),
            busy: words.take("busy", words::time)?,
            entries: words.take("entries", words::at_least(16))?,
            pool: pool(words)?,
        }),
        #[cfg(feature = "memcached")]
        "memcached" => memcached_of(words),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "redis-cluster" => redis_of(words),
        other => Err(unknown(other)),
    }
}

/// A word that is no kind, or none in this program.
fn unknown(kind: &str) -> Wrong {
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, feature)) => {
            let of_skep = match feature.split_once('-').map_or(*feature, |(first, _)| first) {
                // skep-server has the others in any case, and these unless it is told otherwise.
                first @ ("memcached" | "redis") => {
                    format!(", in an application of skep `cargo add skep-server --features {first}`")
                }
                _ => String::new(),
            };
            format!(
                "this program was built without {kind}; to have it, say `cargo add skep-cache --features {feature}`{of_skep}, \
                 and build it again"
            )
        }
        None => {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            format!("there is no driver `{kind}`; there are {}", names.join(", "))
        }
    }
}

/// Where the shared map is, if nobody says: in memory, one for each name and user.
#[cfg(all(feature = "shared", unix))]
fn usual_path(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("skep-cache-{}-{name}", rustix::process::getuid().as_raw()))
}

#[cfg(feature = "file")]
fn file_of(words: &mut Words<'_>) -> Result<Kind, Wrong> {
    let bytes = words::size(words.main)?;
    let path = words.take("path", words::path)?;
    let path = path.ok_or("it needs a folder: right would be \"file:1GiB path=/var/cache/blog\"")?;
    let mut builder = crate::File::builder(path).max_bytes(bytes);
    if let Some(entries) = words.take("entries", words::number)? {
        builder = builder.max_entries(entries);
    }
    Ok(Kind::File { builder, pool: pool(words)? })
}

/// Whether the calls go to other threads.
#[cfg(any(feature = "file", feature = "sqlite"))]
fn pool(words: &mut Words<'_>) -> Result<bool, Wrong> {
    let asked = words.take("pool", |text| words::one_of(text, &[("yes", true), ("no", false)]))?.unwrap_or(false);
    if asked && !cfg!(feature = "pool") {
        return Err("pool: this program was built without the feature `pool` of skep-cache".to_owned());
    }
    Ok(asked)
}

#[cfg(feature = "file")]
fn file(driver: crate::File, pool: bool) -> Far {
    #[cfg(feature = "pool")]
    if pool {
        return Far::FilePool(crate::OnPool::new(driver));
    }
    let _ = pool;
    Far::Near(Near::File(driver))
}

#[cfg(feature = "sqlite")]
fn sqlite(driver: crate::Sqlite, pool: bool) -> Far {
    #[cfg(feature = "pool")]
    if pool {
        return Far::SqlitePool(crate::OnPool::new(driver));
    }
    let _ = pool;
    Far::Near(Near::Sqlite(driver))
}

#[cfg(feature = "memcached")]
fn memcached_of(words: &mut Words<'_>) -> Result<Kind, Wrong> {
    use crate::memcached::Failover;
    if words.main.is_empty() {
        return Err("it needs a server: right would be \"memcached:cache1:11211,cache2:11211\"".to_owned());
    }
    let mut builder = crate::Memcached::builder();
    for server in words.main.split(',') {
        builder = builder.server(server, 1);
    }
    if let Some(time) = words.take("timeout", words::time)? {
        builder = builder.timeout(time).connect_timeout(time);
    }
    if let Some(connections) = words.take("connections", words::number)? {
        builder = builder.connections(connections);
    }
    if let Some(bytes) = words.take("largest", words::room)? {
        builder = builder.value_limit(bytes);
    }
    let choices = [("miss", Failover::Miss), ("move", Failover::Move)];
    if let Some(failover) = words.take("failover", |text| words::one_of(text, &choices))? {
        builder = builder.failover(failover);
    }
    builder.clone().build().map_err(|error| error.to_string())?;
    Ok(Kind::Memcached(builder))
}

#[cfg(feature = "redis")]
fn redis_of(words: &mut Words<'_>) -> Result<Kind, Wrong> {
    if words.main.is_empty() {
        return Err(
            "it needs a server: right would be \"redis:cache1:6379\" or \"redis:unix:/run/redis.sock\"".to_owned()
        );
    }
    let mut builder = match words.kind {
        #[cfg(feature = "redis-cluster")]
        "redis-cluster" => cluster(words.main),
        #[cfg(feature = "redis-tls")]
        "rediss" => crate::Redis::builder(url("rediss", words.main)),
        "redis" => crate::Redis::builder(url("redis", words.main)),
        other => return Err(unknown(other)),
    };
    if let Some(time) = words.take("timeout", words::time)? {
        builder = builder.timeout(time).connect_timeout(time);
    }
    if let Some(connections) = words.take("connections", words::number)? {
        builder = builder.connections(connections);
    }
    builder.clone().build().map_err(|error| error.to_string())?;
    Ok(Kind::Redis(builder))
}

#[cfg(feature = "redis-cluster")]
fn cluster(nodes: &str) -> crate::redis::Builder {
    crate::Redis::cluster(nodes.split(',').map(|node| url("redis", node)))
}

/// The address of a server as the client wants it: `//host` is the rest of a URL, `unix:/path` and `/path` a socket.
#[cfg(feature = "redis")]
fn url(scheme: &str, rest: &str) -> String {
    match rest.strip_prefix("unix:").unwrap_or(rest) {
        path if path.starts_with('/') && !path.starts_with("//") => format!("unix://{path}"),
        rest if rest.starts_with("//") => format!("{scheme}:{rest}"),
        rest => format!("{scheme}://{rest}"),
    }
}

/// Checks the name that files get whose description has no path.
pub(super) fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|whole| whole == name) && !name.contains(char::is_whitespace)
}
