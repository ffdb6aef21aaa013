//! A whole server, over real sockets: one module for each kind of promise.

mod answers;
mod files;
mod http2;
mod life;
mod half_closed;
mod limits;
mod process;
mod proxies;
mod strict;
mod support;
mod tls;
