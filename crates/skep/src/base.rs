//! Values that know nothing of HTTP.

#[doc(hidden)]
pub mod account;
#[cfg(any(feature = "tower", all(feature = "test", not(target_family = "wasm"))))]
pub(crate) mod cancel;
pub(crate) mod quota;
#[doc(hidden)]
pub mod wire;
