//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to Redis.

mod block;
mod clock;
pub mod driver;
mod entry;
mod error;
#[cfg(feature = "memory")]
mod memory;
mod null;
pub mod suite;

pub use clock::{Clock, Time, Version};
pub use driver::Driver;
pub use error::{Error, Result};
#[cfg(feature = "memory")]
pub use memory::Memory;
pub use null::Null;

/// Processor cores, for how finely to divide what threads share.
#[cfg(feature = "memory")]
fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}
