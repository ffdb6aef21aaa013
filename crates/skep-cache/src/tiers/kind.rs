//! One tier: its description and its driver.

use std::path::Path;
#[cfg(any(feature = "sqlite", all(feature = "shared", unix)))]
use std::path::PathBuf;
use std::time::Duration;

use super::Needs;
use super::options::{self, Description, Invalid};
use crate::driver::{Ready, dispatch_enum};
use crate::error::Result;
use crate::null::Null;
use crate::tiered::WritePolicy;

/// A parsed tier.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    kind: Kind,
    /// The write policy and the maximum age of copies, if it is in front of another tier.
    pub(super) writes: Option<WritePolicy>,
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
        location: Location,
        max_value: Option<usize>,
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

/// The file of a shared map.
#[cfg(all(feature = "shared", unix))]
#[derive(Clone, Debug)]
enum Location {
    /// See [`default_path`].
    Default,
    At(PathBuf),
    /// See [`Shared::anonymous`](crate::Shared::anonymous).
    Anonymous,
}

dispatch_enum! {
    /// A driver for any tier: its calls complete at once. See [`Tiers`](super::Tiers).
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(clippy::large_enum_variant, reason = "there is one of it for each cache")]
    pub enum Near {
        /// Stores nothing.
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

dispatch_enum! {
    /// A driver for the last or only tier. See [`Tiers`](super::Tiers).
    #[non_exhaustive]
    #[derive(Debug)]
    #[allow(clippy::large_enum_variant, reason = "there is one of it for each cache")]
    pub enum Far {
        /// A driver for any tier.
        Near(Near),
        /// Files, on blocking threads.
        #[cfg(all(feature = "file", feature = "pool"))]
        FilePool(crate::BlockingPool<crate::File>) boxed,
        /// A table, on blocking threads.
        #[cfg(all(feature = "sqlite", feature = "pool"))]
        SqlitePool(crate::BlockingPool<crate::Sqlite>) boxed,
        /// On memcached servers.
        #[cfg(feature = "memcached")]
        Memcached(crate::Memcached) boxed,
        /// On Redis or a Redis Cluster.
        #[cfg(feature = "redis")]
        Redis(crate::Redis) boxed,
    }
}

/// The kinds of drivers, and the features they need.
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
    pub(super) fn parse(text: &str, is_last: bool) -> Result<Self, Invalid> {
        let mut description = Description::parse(text)?;
        let kind = kind(&mut description)?;
        let (mut writes, mut bound) = (None, None);
        if !is_last {
            if !kind.is_near() {
                return Err(format!(
                    "{} cannot be in front of another tier: it does not complete at once",
                    description.kind
                ));
            }
            writes = description.take("writes", options::writes)?;
            bound = description.take("bound", options::duration)?;
        }
        description.finish()?;
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

    /// Opens the driver of a near tier. `name` is for files without a path.
    pub(super) fn near(&self, name: &str) -> Result<Near> {
        match self.open(name)? {
            Far::Near(near) => Ok(near),
            #[allow(unreachable_patterns, reason = "only near drivers may be built in")]
            _ => unreachable!("`parse` accepts near drivers only"),
        }
    }

    /// Opens the driver.
    #[cfg_attr(
        not(any(feature = "file", feature = "sqlite", feature = "memcached", feature = "redis")),
        allow(clippy::unnecessary_wraps, reason = "memory and null do not fail")
    )]
    pub(super) fn open(&self, name: &str) -> Result<Far> {
        let _ = name;
        Ok(match &self.kind {
            Kind::Null => Far::Near(Near::Null(Null)),
            #[cfg(feature = "memory")]
            Kind::Memory { bytes, entries } => Far::Near(Near::Memory(crate::Memory::bounded(*bytes, *entries))),
            #[cfg(all(feature = "shared", unix))]
            Kind::Shared { bytes, location, max_value } => {
                let mut options = match location {
                    Location::Default => crate::Shared::at(default_path(name), *bytes),
                    Location::At(path) => crate::Shared::at(path, *bytes),
                    Location::Anonymous => crate::Shared::anonymous(*bytes),
                };
                if let Some(max_value) = *max_value {
                    options = options.max_value(max_value);
                }
                let failed = |error| crate::Error::misused("cannot open the shared map").because(error);
                Far::Near(Near::Shared(options.open().map_err(failed)?))
            }
            #[cfg(feature = "file")]
            Kind::File { builder, pool } => file(builder.clone().open()?, *pool),
            #[cfg(feature = "sqlite")]
            Kind::Sqlite { path, table, busy, entries, pool } => {
                let mut driver = crate::Sqlite::open_table(path, table)?;
                if let Some(busy) = *busy {
                    driver = driver.busy_timeout(busy);
                }
                if let Some(entries) = *entries {
                    driver = driver.max_entries(entries)?;
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

/// Each process opens files and tables for itself; with `pool=yes` and a runtime, blocking threads wait for them.
#[cfg(any(feature = "file", feature = "sqlite"))]
fn on_disk(pool: bool) -> Needs {
    Needs { runtime: false, blocks: !pool, survives_fork: false, keeps_nothing: false, leaves_process: true }
}

/// Connections belong to one process.
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

fn kind(description: &mut Description<'_>) -> Result<Kind, Invalid> {
    match description.kind {
        "null" if description.main.is_empty() => Ok(Kind::Null),
        "null" => Err(format!("null takes no value, but got `{}`", description.main)),
        #[cfg(feature = "memory")]
        "memory" => Ok(Kind::Memory {
            bytes: options::size(description.main)?,
            entries: description.take("entries", options::number)?.unwrap_or(u64::MAX),
        }),
        #[cfg(all(feature = "shared", unix))]
        "shared" => Ok(Kind::Shared {
            bytes: options::memory_size(description.main)?,
            location: match description.take("path", options::path)? {
                None => Location::Default,
                Some(path) if path.as_os_str() == "none" => Location::Anonymous,
                Some(path) => Location::At(path),
            },
            max_value: description.take("max_value", options::memory_size)?,
        }),
        #[cfg(feature = "file")]
        "file" => file_of(description),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Kind::Sqlite {
            path: options::path(description.main)
                .map_err(|_| "missing path: expected \"sqlite:/var/lib/blog/cache.db\"")?,
            table: description.take("table", |name| Ok(name.to_owned()))?.unwrap_or_else(|| "skep_cache".to_owned()),
            busy: description.take("busy", options::duration)?,
            entries: description.take("entries", options::at_least(16))?,
            pool: pool(description)?,
        }),
        #[cfg(feature = "memcached")]
        "memcached" => memcached_of(description),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "redis-cluster" => redis_of(description),
        other => Err(unknown(other)),
    }
}

/// The error for an unknown driver, or one that is not built in.
fn unknown(kind: &str) -> Invalid {
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, feature)) => {
            let of_skep = match feature.split_once('-').map_or(*feature, |(first, _)| first) {
                // Only these are optional in skep-server.
                first @ ("memcached" | "redis") => {
                    format!(" (in an application of skep, `cargo add skep-server --features {first}`)")
                }
                _ => String::new(),
            };
            format!(
                "driver {kind} is not built in: run `cargo add skep-cache --features {feature}`{of_skep}, and rebuild"
            )
        }
        None => {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            match skep_units::nearest(kind, names.iter().copied()) {
                Some(nearest) => format!("unknown driver `{kind}`: did you mean `{nearest}`?"),
                None => format!("unknown driver `{kind}`: expected one of {}", names.join(", ")),
            }
        }
    }
}

/// The default path of a shared map: in memory, one for each name and user.
#[cfg(all(feature = "shared", unix))]
fn default_path(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("skep-cache-{}-{name}", rustix::process::getuid().as_raw()))
}

#[cfg(feature = "file")]
fn file_of(description: &mut Description<'_>) -> Result<Kind, Invalid> {
    let bytes = options::size(description.main)?;
    let path = description.take("path", options::path)?;
    let path = path.ok_or("missing folder: expected \"file:1GiB path=/var/cache/blog\"")?;
    let mut builder = crate::File::builder(path).max_bytes(bytes);
    if let Some(entries) = description.take("entries", options::number)? {
        builder = builder.max_entries(entries);
    }
    Ok(Kind::File { builder, pool: pool(description)? })
}

/// Whether calls run on blocking threads.
#[cfg(any(feature = "file", feature = "sqlite"))]
fn pool(description: &mut Description<'_>) -> Result<bool, Invalid> {
    let asked =
        description.take("pool", |text| options::one_of(text, &[("yes", true), ("no", false)]))?.unwrap_or(false);
    if asked && !cfg!(feature = "pool") {
        return Err("pool: the feature `pool` of skep-cache is not built in".to_owned());
    }
    Ok(asked)
}

#[cfg(feature = "file")]
fn file(driver: crate::File, pool: bool) -> Far {
    #[cfg(feature = "pool")]
    if pool {
        return Far::FilePool(crate::BlockingPool::new(driver));
    }
    let _ = pool;
    Far::Near(Near::File(driver))
}

#[cfg(feature = "sqlite")]
fn sqlite(driver: crate::Sqlite, pool: bool) -> Far {
    #[cfg(feature = "pool")]
    if pool {
        return Far::SqlitePool(crate::BlockingPool::new(driver));
    }
    let _ = pool;
    Far::Near(Near::Sqlite(driver))
}

#[cfg(feature = "memcached")]
fn memcached_of(description: &mut Description<'_>) -> Result<Kind, Invalid> {
    use crate::memcached::Failover;
    if description.main.is_empty() {
        return Err("missing server: expected \"memcached:cache1:11211,cache2:11211\"".to_owned());
    }
    let mut builder = crate::Memcached::builder();
    for server in description.main.split(',') {
        builder = builder.server(server, 1);
    }
    if let Some(time) = description.take("timeout", options::duration)? {
        builder = builder.timeout(time).connect_timeout(time);
    }
    if let Some(connections) = description.take("connections", options::number)? {
        builder = builder.connections(connections);
    }
    if let Some(bytes) = description.take("max_value", options::memory_size)? {
        builder = builder.max_value(bytes);
    }
    let choices = [("miss", Failover::Miss), ("move", Failover::Move)];
    if let Some(failover) = description.take("failover", |text| options::one_of(text, &choices))? {
        builder = builder.failover(failover);
    }
    builder.clone().build().map_err(|error| error.to_string())?;
    Ok(Kind::Memcached(builder))
}

#[cfg(feature = "redis")]
fn redis_of(description: &mut Description<'_>) -> Result<Kind, Invalid> {
    if description.main.is_empty() {
        return Err("missing server: expected \"redis:cache1:6379\" or \"redis:unix:/run/redis.sock\"".to_owned());
    }
    let mut builder = match description.kind {
        #[cfg(feature = "redis-cluster")]
        "redis-cluster" => cluster(description.main),
        #[cfg(feature = "redis-tls")]
        "rediss" => crate::Redis::builder(url("rediss", description.main)),
        "redis" => crate::Redis::builder(url("redis", description.main)),
        other => return Err(unknown(other)),
    };
    if let Some(time) = description.take("timeout", options::duration)? {
        builder = builder.timeout(time).connect_timeout(time);
    }
    if let Some(connections) = description.take("connections", options::number)? {
        builder = builder.connections(connections);
    }
    builder.clone().build().map_err(|error| error.to_string())?;
    Ok(Kind::Redis(builder))
}

#[cfg(feature = "redis-cluster")]
fn cluster(nodes: &str) -> crate::redis::Builder {
    crate::Redis::cluster(nodes.split(',').map(|node| url("redis", node)))
}

/// The URL for the client: `//host` is the rest of a URL, `unix:/path` and `/path` are sockets.
#[cfg(feature = "redis")]
fn url(scheme: &str, rest: &str) -> String {
    match rest.strip_prefix("unix:").unwrap_or(rest) {
        path if path.starts_with('/') && !path.starts_with("//") => format!("unix://{path}"),
        rest if rest.starts_with("//") => format!("{scheme}:{rest}"),
        rest => format!("{scheme}://{rest}"),
    }
}

/// Whether a name is valid for files without a path.
pub(super) fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|whole| whole == name) && !name.contains(char::is_whitespace)
}
