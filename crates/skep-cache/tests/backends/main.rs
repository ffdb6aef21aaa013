//! The drivers whose entries live elsewhere, on real servers and against one that misbehaves.
//!
//! Each test starts the servers it needs, on sockets of its own.

#[cfg(feature = "redis")]
mod machines;
#[cfg(feature = "memcached")]
mod memcached;
#[cfg(feature = "memcached")]
mod misbehaving;
#[cfg(any(feature = "memcached", feature = "redis"))]
mod process;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis-tls")]
mod tls;
