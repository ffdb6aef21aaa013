//! Caches of pages, fragments and values, in one tier or several.
//!
//! The cache itself is the crate `skep-cache`. What all users share is made from a [`SharedCx`], which contains no
//! per-user data. The configuration says where entries are stored:
//!
//! ```toml
//! [cache.pages]
//! tiers = ["memory:64MiB", "redis:cache1:6379"]
//! ```
//!
//! | to cache | write |
//! |---|---|
//! | the response of a service | [`PublicPage`] instead of [`Handle`](crate::Handle) |
//! | a part of a page | a [`Fragment`], and `cx.fragment(&it).await?` |
//! | any value | a [`Store`], and `cx.cache(&STORE)` |
//!
//! Pages and fragments are invalidated when a table is written that their [`sql!`](crate::sql!) statements read. Tags
//! invalidate any entry: [`EntryPolicy::tag`], [`SharedCx::invalidate`], [`Site::invalidate`](crate::Site::invalidate).

mod caches;
mod entry;
mod fragment;
mod kept;
mod local;
mod page;
mod store;
mod tiers;

pub use skep_cache::tiers::Needs;
pub use skep_cache::{Builder, Clock, Computed, EntryPolicy, Error as CacheError, Pace, Stats};

#[cfg(not(target_family = "wasm"))]
pub(crate) use caches::of_usage;
pub(crate) use caches::{Caches, Pages, WriteObserver};
pub use fragment::Fragment;
pub use local::LocalCaches;
pub use page::PublicPage;
pub use store::{Backend, Cache, Store};
pub use tiers::{NotTiers, Tiers};

pub use crate::context::shared_cx::SharedCx;
