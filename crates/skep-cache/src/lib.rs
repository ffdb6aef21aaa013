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
mod flight;
mod key;
mod life;
#[cfg(feature = "memory")]
mod memory;
mod mirror;
mod now;
mod null;
#[cfg(all(feature = "shared", unix))]
pub mod shared;
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
#[cfg(all(feature = "shared", unix))]
pub use shared::Shared;
pub use stats::Stats;
pub use tiered::{Tiered, Writes};
pub use timer::Sleep;

/// Processor cores, for how finely to divide what threads share.
#[cfg(feature = "memory")]
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}
