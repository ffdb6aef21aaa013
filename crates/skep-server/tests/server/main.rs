//! A whole server, over real sockets: one module for each kind of promise.

mod answers;
#[cfg(feature = "compression")]
mod compression;
mod fairness;
mod files;
mod framing;
mod full_disk;
mod half_closed;
mod http2;
mod life;
mod limits;
mod nginx;
mod process;
mod proxies;
mod rules;
mod strict;
mod support;
mod tls;
mod websocket;
