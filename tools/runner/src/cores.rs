//! Which core does what: the server's is one, the load's is another.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::Result;

/// The server's core.
pub(crate) const SERVER: usize = 0;

/// The load's core, and the runner's.
pub(crate) const LOAD: usize = 1;

/// Binds this process's thread, and whatever it starts from now on.
pub(crate) fn bind(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    let this: Option<Pid> = None;
    sched_setaffinity(this, &set).map_err(|error| format!("core {core} is not ours to use: {error}").into())
}
