//! What the process around the application provides: mail, requests to other servers, waking of other processes.

#[cfg(target_family = "wasm")]
pub(crate) mod component;
pub mod mail;
#[cfg(not(target_family = "wasm"))]
pub mod wakeup;
