//! The drivers of this machine: the contract, and what each promises beyond it.

mod contract;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(feature = "memory")]
mod tiered;
#[cfg(feature = "memory")]
mod tiers;
