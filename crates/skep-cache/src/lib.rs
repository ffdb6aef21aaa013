//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to Redis.

mod block;
mod clock;
pub mod driver;
mod entry;
mod error;
#[cfg(feature = "memcached")]
pub mod memcached;
mod null;
#[cfg(any(feature = "file", feature = "sqlite", feature = "memcached"))]
mod slot;
pub mod suite;

pub use clock::{Clock, Time, Version};
pub use driver::Driver;
pub use error::{Error, Result};
#[cfg(feature = "memcached")]
pub use memcached::Memcached;
pub use null::Null;
