//! What all other floors may use: what a request costs, quotas, and how values cross to a host of components.

#[doc(hidden)]
pub mod account;
#[cfg(any(feature = "tower", all(feature = "test", not(target_family = "wasm"))))]
pub(crate) mod cancel;
pub(crate) mod const_text;
pub(crate) mod percent;
pub(crate) mod quota;
#[doc(hidden)]
pub mod wire;
