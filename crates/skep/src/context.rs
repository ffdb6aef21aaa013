//! What a request finds: its session, the cache, the database, the settings of the application.

pub(crate) mod cache;
pub mod cx;
pub(crate) mod resources;
pub(crate) mod sealed;
pub mod session;
pub(crate) mod setup;
pub(crate) mod shared_cx;
pub(crate) mod work;
