//! One tier: its description and its driver.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Needs;
use super::options::{self, Description, Invalid};
use crate::driver::{Ready, dispatch_enum, forward};
use crate::error::Result;
use crate::null::Null;
use crate::tiered::WritePolicy;

#[derive(Clone)]
pub(super) struct Tier {
    /// See [`Plan::needs`](super::Plan::needs).
    pub(super) needs: Needs,
    open: Open,
    /// The write policy and the maximum age of copies, if it is in front of another tier.
    pub(super) writes: Option<WritePolicy>,
    pub(super) bound: Option<Duration>,
}

/// Opens a driver. The name is for files without a path.
type Opener<D> = Arc<dyn Fn(&str) -> Result<D> + Send + Sync>;

#[derive(Clone)]
enum Open {
    Near(Opener<Near>),
    #[allow(dead_code, reason = "only near drivers may be built in")]
    Far(Opener<Far>),
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
        /// On memcached servers, sealed.
        #[cfg(feature = "memcached")]
        SealedMemcached(crate::Sealed<crate::Memcached>) boxed,
        /// On Redis or a Redis Cluster, sealed.
        #[cfg(feature = "redis")]
        SealedRedis(crate::Sealed<crate::Redis>) boxed,
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

const HERE: Needs = Needs {
    runtime: false,
    blocks: false,
    survives_fork: true,
    keeps_nothing: false,
    leaves_process: false,
    is_in_clear: false,
};

impl Tier {
    pub(super) fn parse(text: &str, is_last: bool) -> Result<Self, Invalid> {
        let mut description = Description::parse(text)?;
        let (needs, open) = kind(&mut description)?;
        let (mut writes, mut bound) = (None, None);
        if !is_last {
            if matches!(open, Open::Far(_)) {
                return Err(format!(
                    "{} cannot be in front of another tier: it does not complete at once",
                    description.kind
                ));
            }
            writes = description.take("writes", options::writes)?;
            bound = description.take("bound", options::duration)?;
        }
        description.finish()?;
        Ok(Self { needs, open, writes, bound })
    }

    /// Opens the driver of a near tier. `name` is for files without a path.
    pub(super) fn near(&self, name: &str) -> Result<Near> {
        match &self.open {
            Open::Near(open) => open(name),
            Open::Far(_) => unreachable!("`parse` accepts near drivers only"),
        }
    }

    pub(super) fn open(&self, name: &str) -> Result<Far> {
        match &self.open {
            Open::Near(open) => open(name).map(Far::Near),
            Open::Far(open) => open(name),
        }
    }
}

impl fmt::Debug for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tier").field("needs", &self.needs).field("writes", &self.writes).finish_non_exhaustive()
    }
}

fn near(needs: Needs, open: impl Fn(&str) -> Result<Near> + Send + Sync + 'static) -> (Needs, Open) {
    (needs, Open::Near(Arc::new(open)))
}

/// Connections belong to one process. `servers` are those that are spoken to without encryption.
#[cfg(any(feature = "memcached", feature = "redis"))]
fn far<'s, D>(
    mut servers: impl Iterator<Item = &'s str>,
    keys: Option<crate::SealKeys>,
    open: impl Fn() -> Result<D> + Send + Sync + 'static,
    plain: fn(D) -> Far,
    sealed: fn(crate::Sealed<D>) -> Far,
) -> Result<(Needs, Open), Invalid>
where
    D: crate::Driver,
{
    open().map_err(|error| error.to_string())?;
    let needs = Needs {
        runtime: true,
        survives_fork: false,
        leaves_process: true,
        is_in_clear: keys.is_none() && servers.any(is_elsewhere),
        ..HERE
    };
    let open = move |_: &str| match &keys {
        Some(keys) => Ok(sealed(crate::Sealed::new(open()?, keys.clone()))),
        None => open().map(plain),
    };
    Ok((needs, Open::Far(Arc::new(open))))
}

/// Read at the start, while the file of a secret can be.
#[cfg(any(feature = "memcached", feature = "redis"))]
fn keys(description: &mut Description<'_>) -> Result<Option<crate::SealKeys>, Invalid> {
    description.take("seal", |file| crate::SealKeys::read(options::path(file)?).map_err(|error| error.to_string()))
}

/// Each process opens files and tables for itself; with `pool=yes` and a runtime, blocking threads wait for them.
#[cfg(any(feature = "file", feature = "sqlite"))]
const ON_DISK: Needs = Needs { blocks: true, survives_fork: false, leaves_process: true, ..HERE };

fn kind(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    match description.kind {
        "null" if description.main.is_empty() => {
            Ok(near(Needs { keeps_nothing: true, ..HERE }, |_| Ok(Near::Null(Null))))
        }
        "null" => Err(format!("null takes no value, but got `{}`", description.main)),
        #[cfg(feature = "memory")]
        "memory" => {
            let bytes = options::size(description.main)?;
            let entries = description.take("entries", options::number)?.unwrap_or(u64::MAX);
            Ok(near(HERE, move |_| Ok(Near::Memory(crate::Memory::bounded(bytes, entries)))))
        }
        #[cfg(all(feature = "shared", unix))]
        "shared" => shared(description),
        #[cfg(feature = "file")]
        "file" => file(description),
        #[cfg(feature = "sqlite")]
        "sqlite" => sqlite(description),
        #[cfg(feature = "memcached")]
        "memcached" => memcached(description),
        #[cfg(feature = "redis")]
        "redis" | "rediss" | "redis-cluster" => redis(description),
        other => Err(unknown(other)),
    }
}

/// The error for an unknown driver, or one that is not built in.
fn unknown(kind: &str) -> Invalid {
    match KINDS.iter().find(|(name, _)| *name == kind) {
        Some((_, feature)) => {
            let of_cache = format!("`cargo add skep-cache --features {feature}`");
            let of_server = match feature.split_once('-').map_or(*feature, |(first, _)| first) {
                "shared" | "file" | "sqlite" => Some("local-tiers"),
                first @ ("memcached" | "redis") => Some(first),
                _ => None,
            };
            let command = match of_server {
                Some(name) => format!("`cargo add skep-server --features {name}` (without skep's server, {of_cache})"),
                None => of_cache,
            };
            format!("driver {kind} is not built in: run {command}, and rebuild")
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

#[cfg(all(feature = "shared", unix))]
fn shared(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    let bytes = options::memory_size(description.main)?;
    let path = description.take("path", options::path)?;
    let max_value = description.take("max_value", options::memory_size)?;
    let open = move |name: &str| {
        let mut options = match &path {
            None => crate::Shared::at(default_path(name), bytes),
            Some(path) if path.as_os_str() == "none" => crate::Shared::anonymous(bytes),
            Some(path) => crate::Shared::at(path, bytes),
        };
        if let Some(max_value) = max_value {
            options = options.max_value(max_value);
        }
        let failed = |error| crate::Error::misused("cannot open the shared map").because(error);
        options.open().map(Near::Shared).map_err(failed)
    };
    Ok(near(Needs { leaves_process: true, ..HERE }, open))
}

/// The default path of a shared map: in memory, one for each name and user.
#[cfg(all(feature = "shared", unix))]
fn default_path(name: &str) -> std::path::PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("skep-cache-{}-{name}", rustix::process::getuid().as_raw()))
}

#[cfg(feature = "file")]
fn file(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    let bytes = options::size(description.main)?;
    let path = description.take("path", options::path)?;
    let path = path.ok_or("missing folder: expected \"file:1GiB path=/var/cache/blog\"")?;
    let mut builder = crate::File::builder(path).max_bytes(bytes);
    if let Some(entries) = description.take("entries", options::number)? {
        builder = builder.max_entries(entries);
    }
    let open = move || builder.clone().open();
    #[cfg(feature = "pool")]
    if options::pool(description)? {
        let open = move |_: &str| open().map(|driver| Far::FilePool(crate::BlockingPool::new(driver)));
        return Ok((Needs { blocks: false, ..ON_DISK }, Open::Far(Arc::new(open))));
    }
    #[cfg(not(feature = "pool"))]
    options::pool(description)?;
    Ok(near(ON_DISK, move |_| open().map(Near::File)))
}

#[cfg(feature = "sqlite")]
fn sqlite(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    let path = options::path(description.main);
    let path = path.map_err(|_| "missing path: expected \"sqlite:/var/lib/blog/cache.db\"")?;
    let table = description.take("table", |name| Ok(name.to_owned()))?.unwrap_or_else(|| "skep_cache".to_owned());
    let busy = description.take("busy", options::duration)?;
    let entries = description.take("entries", options::at_least(16))?;
    let open = move || {
        let mut driver = crate::Sqlite::open_table(&path, &table)?;
        if let Some(busy) = busy {
            driver = driver.busy_timeout(busy);
        }
        match entries {
            Some(entries) => driver.max_entries(entries),
            None => Ok(driver),
        }
    };
    #[cfg(feature = "pool")]
    if options::pool(description)? {
        let open = move |_: &str| open().map(|driver| Far::SqlitePool(crate::BlockingPool::new(driver)));
        return Ok((Needs { blocks: false, ..ON_DISK }, Open::Far(Arc::new(open))));
    }
    #[cfg(not(feature = "pool"))]
    options::pool(description)?;
    Ok(near(ON_DISK, move |_| open().map(Near::Sqlite)))
}

#[cfg(feature = "memcached")]
fn memcached(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    use crate::memcached::Failover;
    if description.main.is_empty() {
        return Err("missing server: expected \"memcached:cache1:11211,cache2:11211\"".to_owned());
    }
    let servers = description.main.split(',');
    let mut builder = servers.fold(crate::Memcached::builder(), |builder, server| builder.server(server, 1));
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
    let keys = keys(description)?;
    let open = move || builder.clone().build();
    far(description.main.split(','), keys, open, Far::Memcached, Far::SealedMemcached)
}

#[cfg(feature = "redis")]
fn redis(description: &mut Description<'_>) -> Result<(Needs, Open), Invalid> {
    if description.main.is_empty() {
        return Err("missing server: expected \"redis:cache1:6379\" or \"redis:unix:/run/redis.sock\"".to_owned());
    }
    if let Some(server) = description.main.split(',').find(|server| is_relative(server)) {
        return Err(format!(
            "invalid socket `{server}`: expected an absolute path, such as \"redis:unix:/run/redis.sock\""
        ));
    }
    let mut builder = match description.kind {
        #[cfg(feature = "redis-cluster")]
        "redis-cluster" => crate::Redis::cluster(description.main.split(',').map(|node| url("redis", node))),
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
    let keys = keys(description)?;
    let in_clear = description.main.split(',').filter(|_| description.kind != "rediss");
    far(in_clear, keys, move || builder.clone().build(), Far::Redis, Far::SealedRedis)
}

/// True unless this is a socket, or an address of this machine.
#[cfg(any(feature = "memcached", feature = "redis"))]
fn is_elsewhere(server: &str) -> bool {
    let rest = server.strip_prefix("//").unwrap_or(server);
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let host = host.split('/').next().unwrap_or_default();
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.split_once(']'))
        .map_or_else(|| host.split(':').next().unwrap_or_default(), |(address, _)| address);
    let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    !(server.starts_with("unix:") || rest.starts_with('/') || host == "localhost" || is_loopback)
}

/// True for `unix:` without an absolute path, which would be taken for a host.
#[cfg(feature = "redis")]
fn is_relative(server: &str) -> bool {
    server.strip_prefix("unix:").is_some_and(|path| !path.starts_with('/') || path.starts_with("//"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_named_with_the_feature_of_the_server_that_has_it() {
        for kind in ["shared", "file", "sqlite"] {
            let expected = format!(
                "driver {kind} is not built in: run `cargo add skep-server --features local-tiers` (without skep's \
                 server, `cargo add skep-cache --features {kind}`), and rebuild"
            );
            assert_eq!(unknown(kind), expected);
        }
        assert!(unknown("redis-cluster").contains("skep-server --features redis`"));
    }

    #[test]
    #[cfg(any(feature = "memcached", feature = "redis"))]
    fn a_socket_and_an_address_of_this_machine_are_here() {
        for here in
            ["/run/it.sock", "unix:/run/it.sock", "localhost", "127.0.0.1:11211", "[::1]:6379", "//u:p@localhost:1/2"]
        {
            assert!(!is_elsewhere(here), "{here}");
        }
        for there in ["cache1", "cache1:11211", "10.0.0.1", "[2001:db8::1]:6379", "//u:p@cache1/0", "localhost.example"]
        {
            assert!(is_elsewhere(there), "{there}");
        }
    }
}
