//! A cache with tiers that stay coherent, misses that never stampede, and drivers from memory to Redis.

mod block;
mod clock;
pub mod driver;
mod entry;
mod error;
mod null;
#[cfg(feature = "shared")]
pub mod shared;
pub mod suite;

pub use clock::{Clock, Time, Version};
pub use driver::Driver;
pub use error::{Error, Result};
pub use null::Null;
#[cfg(feature = "shared")]
pub use shared::Shared;
