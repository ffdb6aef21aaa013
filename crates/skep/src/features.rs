//! What an application may use beside pages: WebSockets, the client of tests, components and their instances.

pub mod component;
#[doc(hidden)]
#[cfg(not(target_family = "wasm"))]
pub mod hosted;
pub mod module;
#[cfg(all(feature = "test", not(target_family = "wasm")))]
pub mod test;
pub mod websocket;
