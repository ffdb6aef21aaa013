//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to the network.
//!
//! It is independent of web servers and async runtimes; [`Cache::blocking`] has the same methods without `await`.
//!
//! ```
//! # skep_cache::driver::block_on(async {
//! use std::time::Duration;
//! use skep_cache::{Cache, EntryPolicy, Memory};
//!
//! let posts = Cache::<u32, String>::builder("posts")
//!     .ttl(Duration::from_secs(60))
//!     .stale(Duration::from_secs(600)) // while one caller computes, others get the old value
//!     .build(Memory::new(64 << 20))?;
//!
//! // Of all concurrent callers, one reads the file.
//! let read = || async { std::fs::read_to_string("Cargo.toml") };
//! let post = posts.get_or(&7, read).await?;
//!
//! posts.set_with(&8, &post, &EntryPolicy::new(Duration::from_secs(5)).tag("author:1")).await?;
//! posts.invalidate_tag("author:1").await?; // one write, for any number of entries
//! assert_eq!(posts.get(&8).await?, None);
//! # Ok::<(), skep_cache::Error>(())
//! # }).unwrap();
//! ```
//!
//! | task | see |
//! |---|---|
//! | read, store and compute | [`Cache`], [`Builder`], [`BlockingCache`] |
//! | set expiry, tags and weight of an entry | [`EntryPolicy`], [`Computed`] |
//! | choose the encoding of values | [`Postcard`], [`Json`], [`Raw`], [`Codec`] |
//! | choose where entries are stored | [`Memory`], [`Tiered`], [`Null`] and, by features, `Shared`, `File`, `Sqlite`, `Memcached`, `Redis`; `Sealed` around them |
//! | choose that in a configuration | [`tiers`] |
//! | write a driver | [`KeyValueStore`], [`Driver`], [`driver`], [`suite`](mod@suite) |
//! | count attempts and rates, in a table of their own | [`Counters`], [`Pace`] |
//! | control time in a test | [`Clock`] |
//! | observe a cache | [`Stats`], [`Error`] |

mod block;
mod blocking;
#[cfg(feature = "pool")]
mod blocking_pool;
mod breaker;
mod cache;
mod clock;
mod codec;
#[cfg(any(feature = "memcached", feature = "redis"))]
mod connections;
mod counters;
pub mod driver;
mod entry;
mod error;
#[cfg(feature = "file")]
mod file;
mod file_id;
mod flight;
mod hash;
mod key;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "memory")]
mod memory;
mod null;
mod policy;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "seal")]
mod sealed;
mod setters;
#[cfg(all(feature = "shared", unix))]
pub mod shared;
mod slot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stats;
mod store;
pub mod suite;
mod tags;
mod tiered;
pub mod tiers;
mod timer;

pub use blocking::BlockingCache;
#[cfg(feature = "pool")]
pub use blocking_pool::BlockingPool;
pub use cache::{Builder, Cache};
pub use clock::{Clock, Time, Version};
pub use codec::{Codec, Json, Postcard, Raw};
pub use counters::{Change, Counters, Pace};
pub use driver::Driver;
pub use error::{Error, Result};
#[cfg(feature = "file")]
pub use file::File;
pub use file_id::FileId;
#[cfg(feature = "memcached")]
pub use memcached::Memcached;
#[cfg(feature = "memory")]
pub use memory::Memory;
pub use null::Null;
pub use policy::{Computed, EntryPolicy};
#[cfg(feature = "redis")]
pub use redis::Redis;
#[cfg(feature = "seal")]
pub use sealed::{SealKeys, Sealed};
#[cfg(all(feature = "shared", unix))]
pub use shared::Shared;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use stats::Stats;
pub use store::{KeyValueStore, StoreDriver};
pub use tiered::{Tiered, WritePolicy};
pub use timer::Sleep;

/// The examples of the pages in `docs` are compiled.
#[cfg(all(doctest, feature = "memory", feature = "shared", feature = "memcached"))]
#[doc = include_str!("../../../docs/guides/extend/cache-driver.md")]
#[doc = include_str!("../../../docs/reference/cache.md")]
struct Pages;
