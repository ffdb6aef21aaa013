//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to the network.
//!
//! It knows nothing of web servers and needs no runtime of its own: futures run on any, and [`Cache::now`] has the same
//! methods for programs without one.
//!
//! ```
//! # skep_cache::driver::block_on(async {
//! use std::time::Duration;
//! use skep_cache::{Cache, Life, Memory};
//!
//! let posts = Cache::<u32, String>::builder("posts")
//!     .ttl(Duration::from_secs(60))
//!     .stale(Duration::from_secs(600)) // while one computes anew, others get the old value
//!     .build(Memory::new(64 << 20))?;
//!
//! // However many ask for what is not there, one reads the file.
//! let read = || async { std::fs::read_to_string("Cargo.toml") };
//! let post = posts.get_or(&7, read).await?;
//!
//! posts.set_for(&8, &post, &Life::of(Duration::from_secs(5)).tag("author:1")).await?;
//! posts.invalidate_tag("author:1").await?; // one write, however many entries have it
//! assert_eq!(posts.get(&8).await?, None);
//! # Ok::<(), skep_cache::Error>(())
//! # }).unwrap();
//! ```
//!
//! | to | see |
//! |---|---|
//! | read, store and compute | [`Cache`], [`Builder`], [`Now`] |
//! | say how long and why an entry lives | [`Life`], [`Answer`] |
//! | choose how values become bytes | [`Postcard`], [`Json`], [`Raw`], [`Codec`] |
//! | choose where they are kept | [`Memory`], [`Tiered`], [`Mirror`], [`Null`] and, by features, `Shared`, `File`, `Sqlite`, `Memcached`, `Redis` |
//! | choose it in a configuration | [`tiers`] |
//! | write a driver | [`Driver`], [`driver`], [`suite`](mod@suite) |
//! | move time in a test | [`Clock`] |
//! | know what went on | [`Stats`], [`Error`] |

mod block;
mod breaker;
mod cache;
mod chance;
mod clock;
mod codec;
pub mod driver;
mod entry;
mod error;
#[cfg(feature = "file")]
mod file;
mod flight;
mod hash;
mod key;
mod life;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "memory")]
mod memory;
mod mirror;
mod now;
mod null;
#[cfg(feature = "pool")]
mod on_pool;
mod process;
#[cfg(any(feature = "memcached", feature = "redis"))]
mod reach;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(all(feature = "shared", unix))]
pub mod shared;
#[cfg(any(feature = "memory", all(feature = "shared", unix)))]
mod sketch;
#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached", feature = "redis"))]
mod slot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stats;
pub mod suite;
mod tags;
mod tiered;
pub mod tiers;
mod timer;

pub use cache::{Builder, Cache};
pub use clock::{Clock, Time, Version};
pub use codec::{Codec, Json, Postcard, Raw};
pub use driver::Driver;
pub use error::{Error, Result};
#[cfg(feature = "file")]
pub use file::File;
pub use life::{Answer, Life};
#[cfg(feature = "memcached")]
pub use memcached::Memcached;
#[cfg(feature = "memory")]
pub use memory::Memory;
pub use mirror::Mirror;
pub use now::Now;
pub use null::Null;
#[cfg(feature = "pool")]
pub use on_pool::OnPool;
#[cfg(feature = "redis")]
pub use redis::Redis;
#[cfg(all(feature = "shared", unix))]
pub use shared::Shared;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use stats::Stats;
pub use tiered::{Tiered, Writes};
pub use timer::Sleep;

/// The examples of the pages in `docs` are compiled.
#[cfg(all(doctest, feature = "memory", feature = "shared", feature = "memcached"))]
#[doc = include_str!("../../../docs/cache.md")]
struct Pages;
