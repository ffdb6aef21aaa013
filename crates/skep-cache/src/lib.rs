//! skel
#[cfg(feature = "memcached")]
pub mod memcached;
