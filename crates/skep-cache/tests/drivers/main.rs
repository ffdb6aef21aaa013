//! The drivers of this machine: the contract, and what each promises beyond it.

mod contract;
mod entry;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "memory")]
mod memory;
#[cfg(any(feature = "memcached", feature = "redis"))]
mod options;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(feature = "memory")]
mod tiered;
#[cfg(feature = "memory")]
mod tiers;
