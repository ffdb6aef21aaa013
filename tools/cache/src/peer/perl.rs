//! Perl's caches: one interpreter each.

use std::process::Command;

use super::process::Process;
use super::{Peer, Start};
use crate::Result;

macro_rules! scripts {
    ($($function:ident $name:literal;)*) => {$(
        pub(super) fn $function(start: &Start) -> Result<Box<dyn Peer>> {
            perl(start, $name)
        }
    )*};
}

scripts! {
    chi_memory "chi-memory";
    chi_fastmmap "chi-fastmmap";
    chi_memcached_unix "chi-memcached-unix";
    chi_memcached_tcp "chi-memcached-tcp";
    chi_l1 "chi-l1";
    fastmmap "fastmmap";
    memcached_fast_unix "memcached-fast-unix";
    memcached_fast_tcp "memcached-fast-tcp";
    memcached_tcp "memcached-tcp";
}

fn perl(start: &Start, name: &'static str) -> Result<Box<dyn Peer>> {
    let mut script = Command::new("perl");
    script.arg(crate::folder().join("peers/cache.pl")).arg(name).arg(start.keys_file());
    script.arg(&start.memory).arg(start.memcached()).arg(&start.memcached_tcp);
    script.arg((start.room >> 20).to_string());
    Ok(Box::new(vec![Process::start(format!("perl, {name}"), &script)?]))
}
