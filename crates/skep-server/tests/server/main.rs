//! A whole server, over real sockets: one module for each kind of promise.

mod answers;
mod configuration;
mod files;
mod http2;
mod life;
mod limits;
mod process;
mod strict;
mod support;
mod tls;
