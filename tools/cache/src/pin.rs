//! Which core does what.
//!
//! Everything of a figure runs on one core, the last one: the client, the server that it asks, and we who start them. A
//! question and its answer are then two switches of a core that never rests. On two cores each would wake the other one
//! from its sleep, which on a virtual machine takes 5 or 50 microseconds as it likes, and would be all that is
//! measured. Only where two processes are asked to work at the same time does each have a core of its own.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Result;

/// Keeps this process, and all that it starts from now on, on the core `number` places before the last; counted round.
pub(crate) fn before_last(number: usize) -> Result<()> {
    // A process that was started by a pinned one asks the machine, not what it was left with.
    let all = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    let last = all.and_then(|all| last(all.trim())).unwrap_or(0);
    let core = last - number % (last + 1);
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).map_err(|error| format!("core {core} is not for us: {error}"))?;
    debug_assert_eq!(sched_getaffinity(None)?.count(), 1);
    Ok(())
}

/// The highest number of a list such as `0-3,5`.
fn last(list: &str) -> Option<usize> {
    list.rsplit([',', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_core_of_a_list_is_found() {
        assert_eq!(last("0-3,5"), Some(5));
        assert_eq!(last("0-15"), Some(15));
        assert_eq!(last("0"), Some(0));
        assert_eq!(last(""), None);
    }
}
