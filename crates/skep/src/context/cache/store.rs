//! Named caches of an application.

use std::fmt;

use skep_cache::Builder;

/// A cache of typed values on the tiers that the configuration names: [`SharedCx::cache`](super::SharedCx::cache) gives
/// it, and [`skep_cache::Cache`] says what it can do.
pub type Cache<K, V> = skep_cache::Cache<K, V, std::sync::Arc<Backend>>;

/// The storage of a cache.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use skep_cache::tiers::Tiers as Backend;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use crate::host::component::functions::Backend;

/// Names a cache of an application and says how its values live. Its tiers are those of `[cache.default]`, or its own,
/// of `[cache.NAME]`, if [`App::store`](crate::App::store) makes it known.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::Store;
///
/// /// How often each article was read today.
/// const READERS: Store<str, u64> = Store::with("readers", |readers| readers.ttl(Duration::from_hours(24)));
/// # let _ = READERS;
/// ```
///
/// A name belongs to one pair of types: two stores of one name that differ in them are a fault in the application.
pub struct Store<K: ?Sized, V> {
    pub(super) name: &'static str,
    pub(super) settings: fn(Builder<K, V>) -> Builder<K, V>,
}

impl<K: ?Sized, V> Store<K, V> {
    /// With the usual settings: an hour to live. The name has 1 to 48 lower-case letters, digits, `-` and `_`. See
    /// [`Store`] for an example.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self::with(name, |usual| usual)
    }

    /// With settings of its own. See [`Store`] for an example.
    #[must_use]
    pub const fn with(name: &'static str, settings: fn(Builder<K, V>) -> Builder<K, V>) -> Self {
        Self { name, settings }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }
}

impl<K: ?Sized, V> fmt::Debug for Store<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).finish_non_exhaustive()
    }
}
