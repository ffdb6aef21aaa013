//! Which core a thread runs on.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The calling thread itself.
const THIS: Option<Pid> = None;

/// The calling thread is bound, until this is dropped. What it starts meanwhile is bound too, and stays so.
#[derive(Debug)]
pub(crate) struct Bound(CpuSet);

impl Bound {
    pub(crate) fn to(core: usize) -> Result<Self, String> {
        let wrong = |error| format!("core {core} is not ours to use ({error}); there are {}", shown());
        let before = sched_getaffinity(THIS).map_err(wrong)?;
        if core >= CpuSet::MAX_CPU {
            return Err(format!("there is no core {core}; there are {}", shown()));
        }
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(THIS, &set).map_err(wrong)?;
        Ok(Self(before))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // The set was ours before.
        let _ = sched_setaffinity(THIS, &self.0);
    }
}

/// The cores that we may use.
pub(crate) fn ours() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(THIS) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

fn shown() -> String {
    ours().iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_bound_until_the_end_and_no_core_is_invented() {
        let before = ours();
        {
            let _bound = Bound::to(before[0]).unwrap();
            assert_eq!(ours(), [before[0]]);
        }
        assert_eq!(ours(), before);
        assert!(Bound::to(100_000).unwrap_err().contains("no core 100000"));
        assert!(Bound::to(1023).unwrap_err().contains("core 1023 is not ours"));
    }
}
