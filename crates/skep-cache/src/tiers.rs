//! Drivers from a configuration: a list of tiers, each a line of text, becomes a driver when the program runs.
//!
//! Which drivers there are is known when the program is built, so there is no box and no call through a table: an enum
//! of drivers is a driver (`choice`), at the price of one comparison.
//!
//! Start reading at [`Plan::parse`] and [`Plan::open`].

use crate::clock::Time;
use crate::driver::{Claim, Driver, Entry, Listener, Record, Removal, Token, Usage, When};
use crate::error::{Error, Result};
use crate::tiered::Tiered;

mod choice;
mod kind;
#[cfg_attr(
    not(all(feature = "memory", feature = "shared", feature = "memcached", feature = "redis")),
    allow(dead_code, reason = "each driver reads some of the words")
)]
mod words;

use choice::{answer, choice};
use kind::{Tier, is_file_name};

pub use kind::{Far, Near};

/// What a list of tiers describes: one to three, near to far. Nothing is opened before [`Plan::open`].
///
/// A description is `kind:what option=value ...`:
///
/// | description | options |
/// |---|---|
/// | `memory:64MiB` | `entries=10000` |
/// | `shared:256MiB` | `path=/dev/shm/blog` (one for each name and user in /dev/shm) or `path=none` (no file: for this process and those forked from it), `largest=1MiB` |
/// | `file:1GiB path=/var/cache/blog` | `entries=100000`, `pool=yes` |
/// | `sqlite:/var/lib/blog/cache.db` | `table=skep_cache`, `busy=5s`, `entries=1000000`, `pool=yes` |
/// | `memcached:host:11211,host2:11211`, `memcached:/run/memcached.sock` | `timeout=500ms`, `connections=1`, `largest=1MiB`, `failover=miss` or `move` |
/// | `redis:host:6379`, `redis://user:password@host/1`, `redis:unix:/run/redis.sock`, `rediss://host` (TLS) | `timeout=500ms`, `connections=1` |
/// | `redis-cluster:host1:6379,host2:6379` | the same |
/// | `null` | |
///
/// A tier in front of another one (not memcached, Redis, or one on a pool) also takes `writes=through`, `around` or `back`
/// ([`Writes`](crate::Writes)) and `bound=1s` ([`Tiered::bound`]). Sizes are in B, KiB, MiB and GiB; times in ms, s, min and h.
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
/// let plan = Plan::parse(list)?; // at the start: a wrong word is an error here
/// let pages = Cache::<str, String>::builder("pages").build(plan.open("blog-pages")?)?;
/// pages.set("/", &"<h1>Hello</h1>".to_owned()).await?;
/// assert!(pages.get("/").await?.is_some());
///
/// let error = Plan::parse(["memory:64MB"]).unwrap_err().to_string();
/// assert_eq!(
///     error,
///     "the tiers of a cache are wrong: tier 1 of 1, \"memory:64MB\": \
///      \"64MB\" is no size: write a whole number and B, KiB, MiB or GiB, as in 64MiB"
/// );
/// # Ok::<(), skep_cache::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    tiers: Vec<Tier>,
}

/// What tiers need, and what they are good for. See [`Plan::needs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are answers to questions that have nothing to do with each other"
)]
#[non_exhaustive]
pub struct Needs {
    /// Calls need a tokio runtime: they wait for an answer over a connection.
    pub runtime: bool,
    /// Calls wait for a disk, in place. Never where `runtime` is true: such tiers are called where they may wait for an answer.
    pub blocks: bool,
    /// An open driver may be used by a copy of the process (fork).
    pub survives_fork: bool,
    /// Nothing is kept, whatever is stored.
    pub keeps_nothing: bool,
    /// What is kept is seen by other processes, or outlives this one.
    pub leaves_process: bool,
}

/// Most tiers there can be.
const MOST: usize = 3;

impl Plan {
    /// Understands a list of descriptions, near to far.
    ///
    /// # Errors
    ///
    /// If one is wrong or not in this program; the text says which, what is wrong with it, and what would be right.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self> {
        let list: Vec<T> = list.into_iter().collect();
        if list.is_empty() || list.len() > MOST {
            return Err(wrong(format!("there are {}, and one to {MOST} are possible", list.len())));
        }
        let tier = |(at, text): (usize, &T)| {
            let parsed = Tier::parse(text.as_ref(), at + 1 == list.len());
            parsed
                .map_err(|why| wrong(format!("tier {} of {}, \"{}\": {why}", at + 1, list.len(), shown(text.as_ref()))))
        };
        Ok(Self { tiers: list.iter().enumerate().map(tier).collect::<Result<_>>()? })
    }

    /// What whoever runs these tiers must see to. It is known before anything is opened.
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
        let all: Vec<Needs> = self.tiers.iter().map(Tier::needs).collect();
        let runtime = all.iter().any(|tier| tier.runtime);
        Needs {
            runtime,
            // What is asked over a connection needs the runtime of its thread, and cannot be called from one that may block.
            blocks: !runtime && all.iter().any(|tier| tier.blocks),
            survives_fork: all.iter().all(|tier| tier.survives_fork),
            keeps_nothing: all.iter().all(|tier| tier.keeps_nothing),
            leaves_process: all.iter().any(|tier| tier.leaves_process),
        }
    }

    /// The driver: makes files, connects to nobody. `name` is part of the name of files that are described without a path: that
    /// of the program and of the cache, so that two programs of one user do not share by mistake what they do not mean to.
    ///
    /// Tiers in front of Redis hear of changes on a task of the runtime in which the driver is first used.
    ///
    /// # Errors
    ///
    /// If a file cannot be opened or is not ours, or `name` is no name of a file.
    pub fn open(&self, name: &str) -> Result<Tiers> {
        if !is_file_name(name) {
            return Err(wrong(format!("\"{name}\" names the cache's files, and is no name of a file without spaces")));
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
    let mut tiered = Tiered::new(near, far).otherwise(tier.writes.unwrap_or_default());
    if let Some(bound) = tier.bound {
        tiered = tiered.bound(bound);
    }
    tiered
}

fn wrong(why: String) -> Error {
    Error::misused("the tiers of a cache are wrong").because(why)
}

/// A description without the password in it.
fn shown(text: &str) -> String {
    match text.split_once("//").and_then(|(before, rest)| Some((before, rest.rsplit_once('@')?.1))) {
        Some((before, after)) => format!("{before}//...@{after}"),
        None => text.to_owned(),
    }
}

choice! {
    /// A driver that a [`Plan`] describes. Whoever wants to know about its tiers looks into it.
    ///
    /// ```
    /// use skep_cache::tiers::{Plan, Tiers};
    ///
    /// let Tiers::Two(tiers) = Plan::parse(["memory:1MiB", "memory:2MiB"])?.open("blog-pages")? else {
    ///     panic!("two were described");
    /// };
    /// assert!(tiers.is_near_used());
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
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
    /// Stores in the far tiers what [`Writes::Back`](crate::Writes::Back) has kept for later. Call it before the program ends.
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

#[cfg(all(test, feature = "memory"))]
mod tests;
