//! What all other floors may use: percent-encoding, texts that are made while compiling.

#[cfg(any(feature = "tower", all(feature = "test", not(target_family = "wasm"))))]
pub(crate) mod cancel;
pub(crate) mod const_text;
pub(crate) mod percent;
