//! Drivers from configuration: a list of tiers, each described by a line of text, becomes a driver at run time.
//!
//! An enum of drivers is a driver: a call costs one comparison, no box and no virtual call.
//!
//! Start reading at [`Plan::parse`] and [`Plan::open`].

use crate::clock::Time;
use crate::driver::{Driver, dispatch_enum, forward};
use crate::error::{Error, Result};
use crate::tiered::Tiered;

mod kind;
#[cfg_attr(
    not(all(feature = "memory", feature = "shared", feature = "memcached", feature = "redis")),
    allow(dead_code, reason = "each driver reads some of the options")
)]
mod options;

use kind::{Tier, is_file_name};

pub use kind::{Far, Near};

/// A parsed list of one to three tiers, near to far. [`Plan::open`] opens them.
///
/// A description is `kind:what option=value ...`:
///
/// | description | options |
/// |---|---|
/// | `memory:64MiB` | `entries=10000` |
/// | `shared:256MiB` | `path=/dev/shm/blog` (default: one for each name and user in /dev/shm) or `path=none` (no file: for this process and its forks), `max_value=1MiB` |
/// | `file:1GiB path=/var/cache/blog` | `entries=100000`, `pool=yes` |
/// | `sqlite:/var/lib/blog/cache.db` | `table=skep_cache`, `busy=5s`, `entries=1000000`, `pool=yes` |
/// | `memcached:host:11211,host2:11211`, `memcached:/run/memcached.sock` | `timeout=500ms`, `connections=1`, `max_value=1MiB`, `failover=miss` or `move`, `seal=FILE` |
/// | `redis:host:6379`, `redis://user:password@host/1`, `redis:unix:/run/redis.sock`, `rediss://host` (TLS) | `timeout=500ms`, `connections=1`, `seal=FILE` |
/// | `redis-cluster:host1:6379,host2:6379` | the same |
/// | `null` | |
///
/// `seal=FILE` encrypts values with the keys of a file (`SealKeys::read`), the same on all machines.
///
/// A tier in front of another one (any but memcached, Redis and those with `pool=yes`) also takes `writes=through`,
/// `around` or `back` ([`WritePolicy`](crate::WritePolicy)) and `bound=1s` ([`Tiered::bound`]). Sizes and durations are
/// those of all settings: `64MiB`, `500ms`, `5m`.
///
/// ```
/// use skep_cache::tiers::Plan;
/// use skep_cache::Cache;
///
/// # skep_cache::driver::block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let shared = format!("shared:1MiB path={}", folder.path().join("pages").display());
/// # let list = ["memory:64KiB writes=around".to_owned(), shared];
/// # #[cfg(any())]
/// let list = ["memory:64MiB writes=around", "shared:256MiB"];
/// let plan = Plan::parse(list)?; // at the start: an invalid description is an error here
/// let pages = Cache::<str, String>::builder("pages").build(plan.open("blog-pages")?)?;
/// pages.set("/", &"<h1>Hello</h1>".to_owned()).await?;
/// assert!(pages.get("/").await?.is_some());
///
/// let error = Plan::parse(["memory:64XB"]).unwrap_err().to_string();
/// assert_eq!(
///     error,
///     "invalid cache tiers: tier 1 of 1, \"memory:64XB\": \
///      invalid size \"64XB\": expected a number and a unit, such as 1500B, 64KiB, 2MiB"
/// );
/// # Ok::<(), skep_cache::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    tiers: Vec<Tier>,
}

/// Requirements and properties of tiers. See [`Plan::needs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent properties")]
#[non_exhaustive]
pub struct Needs {
    /// Calls need a tokio runtime, for network I/O.
    pub runtime: bool,
    /// Calls block on a disk. Never if `runtime` is true.
    pub blocks: bool,
    /// An open driver may be used after a fork.
    pub survives_fork: bool,
    /// Stores nothing.
    pub keeps_nothing: bool,
    /// Entries are visible to other processes, or outlive this one.
    pub leaves_process: bool,
    /// Entries cross a network neither encrypted nor sealed: who is on it can read them and put others in their place.
    pub is_in_clear: bool,
}

const MAX_TIERS: usize = 3;

impl Plan {
    /// Parses a list of descriptions, near to far.
    ///
    /// # Errors
    ///
    /// If one is invalid, or its driver is not built in; the text names it and says what is expected.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self> {
        let list: Vec<T> = list.into_iter().collect();
        if list.is_empty() || list.len() > MAX_TIERS {
            return Err(wrong(format!("{} tiers: expected one to {MAX_TIERS}", list.len())));
        }
        let tier = |(at, text): (usize, &T)| {
            let parsed = Tier::parse(text.as_ref(), at + 1 == list.len());
            parsed
                .map_err(|why| wrong(format!("tier {} of {}, \"{}\": {why}", at + 1, list.len(), shown(text.as_ref()))))
        };
        Ok(Self { tiers: list.iter().enumerate().map(tier).collect::<Result<_>>()? })
    }

    /// What these tiers require, before they are opened.
    ///
    /// ```
    /// use skep_cache::tiers::Plan;
    ///
    /// let needs = Plan::parse(["memory:1MiB"])?.needs();
    /// assert!(needs.survives_fork && !needs.blocks && !needs.runtime && !needs.keeps_nothing && !needs.leaves_process);
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
    #[must_use]
    pub fn needs(&self) -> Needs {
        let all: Vec<Needs> = self.tiers.iter().map(|tier| tier.needs).collect();
        let runtime = all.iter().any(|tier| tier.runtime);
        Needs {
            runtime,
            // Network drivers need the runtime of their thread, so they cannot be called on a thread for blocking
            // calls.
            blocks: !runtime && all.iter().any(|tier| tier.blocks),
            survives_fork: all.iter().all(|tier| tier.survives_fork),
            keeps_nothing: all.iter().all(|tier| tier.keeps_nothing),
            leaves_process: all.iter().any(|tier| tier.leaves_process),
            is_in_clear: all.iter().any(|tier| tier.is_in_clear),
        }
    }

    /// Opens the driver: creates files, opens no connections. `name` is part of the name of files without a path, and
    /// should name the program and the cache, so that two programs of one user do not share a file by mistake.
    ///
    /// A tier in front of Redis receives notifications on the runtime in which the driver is first used.
    ///
    /// # Errors
    ///
    /// If a file cannot be opened or is not ours, or `name` is not a file name.
    pub fn open(&self, name: &str) -> Result<Tiers> {
        if !is_file_name(name) {
            return Err(wrong(format!("invalid cache name \"{name}\": expected a file name without spaces")));
        }
        Ok(match &self.tiers[..] {
            [one, two, three] => {
                let rear = tiered(two, two.near(name)?, three.open(name)?);
                Tiers::Three(Box::new(tiered(one, one.near(name)?, rear)))
            }
            [one, two] => Tiers::Two(tiered(one, one.near(name)?, two.open(name)?)),
            [one, ..] => Tiers::One(one.open(name)?),
            [] => unreachable!("`parse` refuses an empty list"),
        })
    }
}

fn tiered<F: Driver>(tier: &Tier, near: Near, far: F) -> Tiered<Near, F> {
    let mut tiered = Tiered::new(near, far).default_writes(tier.writes.unwrap_or_default());
    if let Some(bound) = tier.bound {
        tiered = tiered.bound(bound);
    }
    tiered
}

fn wrong(why: String) -> Error {
    Error::misused("invalid cache tiers").because(why)
}

/// A description without its password.
fn shown(text: &str) -> String {
    match text.split_once("//").and_then(|(before, rest)| Some((before, rest.rsplit_once('@')?.1))) {
        Some((before, after)) => format!("{before}//...@{after}"),
        None => text.to_owned(),
    }
}

dispatch_enum! {
    /// The driver of a [`Plan`]. See there for an example.
    #[derive(Debug)]
    #[allow(clippy::large_enum_variant, reason = "there is one of it for each cache")]
    pub enum Tiers {
        /// One driver.
        One(Far),
        /// One in front of another.
        Two(Tiered<Near, Far>),
        /// One in front of two.
        Three(Box<Tiered<Near, Tiered<Near, Far>>>),
    }
}

impl Tiers {
    /// Stores buffered writes ([`WritePolicy::Back`](crate::WritePolicy::Back)) in the far tiers. Call it before the
    /// program ends.
    ///
    /// See [`Tiered::flush`].
    pub async fn flush(&self, now: Time) -> Result<()> {
        match self {
            Self::One(_) => Ok(()),
            Self::Two(tiers) => tiers.flush(now).await,
            Self::Three(tiers) => {
                tiers.flush(now).await?;
                tiers.far().flush(now).await
            }
        }
    }
}
