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
//! | choose where they are kept | [`Memory`], [`Tiered`], [`Mirror`], [`Null`] |
//! | write a driver | [`Driver`], [`driver`], [`suite`] |
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
mod flight;
mod key;
mod life;
#[cfg(feature = "memory")]
mod memory;
mod mirror;
mod now;
mod null;
mod stats;
pub mod suite;
mod tags;
mod tiered;
mod timer;

pub use cache::{Builder, Cache};
pub use clock::{Clock, Time, Version};
pub use codec::{Codec, Json, Postcard, Raw};
pub use driver::Driver;
pub use error::{Error, Result};
pub use life::{Answer, Life};
#[cfg(feature = "memory")]
pub use memory::Memory;
pub use mirror::Mirror;
pub use now::Now;
pub use null::Null;
pub use stats::Stats;
pub use tiered::{Tiered, Writes};
pub use timer::Sleep;
