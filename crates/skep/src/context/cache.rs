//! Caches of pages, fragments and values: what `skep::cache` re-exports.

mod caches;
pub(crate) mod entry;
mod fragment;
pub(crate) mod kept;
mod local;
mod store;
mod stored;
mod tiers;

pub use skep_cache::tiers::Needs;
pub use skep_cache::{Builder, Clock, Computed, EntryPolicy, Error as CacheError, Pace, Stats};

#[cfg(not(target_family = "wasm"))]
pub(crate) use caches::of_usage;
pub(crate) use caches::{Caches, Pages, WriteObserver};
pub use fragment::Fragment;
pub use local::LocalCaches;
pub use store::{Backend, Cache, Store};
pub use tiers::{NotTiers, Tiers};

pub use crate::context::shared_cx::SharedCx;
