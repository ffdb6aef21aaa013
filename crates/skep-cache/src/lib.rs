//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to Redis.

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
mod key;
mod life;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "memory")]
mod memory;
mod now;
mod null;
#[cfg(feature = "pool")]
mod on_pool;
#[cfg(feature = "shared")]
pub mod shared;
#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached"))]
mod slot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stats;
pub mod suite;
mod tags;
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
pub use now::Now;
pub use null::Null;
#[cfg(feature = "pool")]
pub use on_pool::OnPool;
#[cfg(feature = "shared")]
pub use shared::Shared;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;
pub use stats::Stats;
pub use timer::Sleep;

/// Processor cores, for how finely to divide what threads share.
#[cfg(feature = "memory")]
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}
