//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to Redis.

mod block;
mod clock;
pub mod driver;
mod entry;
mod error;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "memory")]
mod memory;
mod null;
#[cfg(feature = "pool")]
mod on_pool;
#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached"))]
mod slot;
#[cfg(feature = "sqlite")]
mod sqlite;
pub mod suite;

pub use clock::{Clock, Time, Version};
pub use driver::Driver;
pub use error::{Error, Result};
#[cfg(feature = "file")]
pub use file::File;
#[cfg(feature = "memcached")]
pub use memcached::Memcached;
#[cfg(feature = "memory")]
pub use memory::Memory;
pub use null::Null;
#[cfg(feature = "pool")]
pub use on_pool::OnPool;
#[cfg(feature = "sqlite")]
pub use sqlite::Sqlite;

/// Processor cores, for how finely to divide what threads share.
#[cfg(feature = "memory")]
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}
