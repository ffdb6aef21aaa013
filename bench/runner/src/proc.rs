//! What the kernel says about cores and about memory by process, from /proc. What a server takes, skep-bench reads.
//!
//! It reads, and changes nothing. Figures are totals since the start; a caller takes the difference of two.

use std::fs;
use std::io;

/// A process and all below it.
fn tree(root: u32) -> io::Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| Stat::parse(&stat));
        parents.extend(stat.map(|stat| (pid, stat.parent)));
    }
    Ok(below(root, &parents))
}

/// `root`, then its children, then theirs, of (process, parent).
fn below(root: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| pid));
        next += 1;
    }
    found
}

/// Some of a process's `stat`.
#[derive(Debug, PartialEq)]
struct Stat {
    parent: u32,
    user: u64,
    system: u64,
}

impl Stat {
    /// proc(5): the second field is a name in parentheses and may hold anything, so counting starts behind it.
    fn parse(stat: &str) -> Option<Self> {
        let (_, behind) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field)?.parse::<u64>().ok();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            user: ticks(11)? + ticks(13)?,
            system: ticks(12)? + ticks(14)?,
        })
    }
}

/// What this process and the children it waited for have used, in microseconds.
pub(crate) fn own() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let stat = Stat::parse(&stat).ok_or(io::ErrorKind::InvalidData)?;
    Ok(ticks(stat.user + stat.system))
}

/// The proportional set sizes of a process and all below it, each in megabytes (of 10^6 bytes).
pub(crate) fn memory(root: u32) -> io::Result<Vec<f64>> {
    let mut sizes = Vec::new();
    for pid in tree(root)? {
        // A process that went away since we listed it holds nothing.
        let Ok(rollup) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else { continue };
        let kib = pss(&rollup).ok_or(io::ErrorKind::InvalidData)?;
        sizes.push(float(kib) * 1024.0 / 1e6);
    }
    Ok(sizes)
}

/// The `Pss` of a `smaps_rollup`, in KiB.
fn pss(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// For how many microseconds a core was not idle: programs, interrupts and the hypervisor.
pub(crate) fn busy(core: usize) -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/stat")?;
    Ok(ticks(core_ticks(&stat, core).ok_or(io::ErrorKind::InvalidData)?))
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq, steal; then guests, who are in `user` already.
fn core_ticks(stat: &str, core: usize) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix(&format!("cpu{core} ")))?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    Some(fields.iter().enumerate().filter(|(place, _)| !matches!(place, 3 | 4)).map(|(_, ticks)| ticks).sum())
}

/// Clock ticks in microseconds.
fn ticks(ticks: u64) -> f64 {
    float(ticks) * 1e6 / float(rustix::param::clock_ticks_per_second())
}

/// Exact below 2^53, and nothing here comes near it.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = "11387 (a (b) c) S 11383 11383 6659 0 -1 4194304 91 77 1 1 7 3 40 2 20 0 1 0 166097 2654208 405";
        assert_eq!(Stat::parse(stat), Some(Stat { parent: 11383, user: 47, system: 5 }));
    }

    #[test]
    fn a_tree_has_children_and_their_children_and_nobody_else() {
        assert_eq!(below(10, &[(1, 0), (12, 10), (13, 12), (14, 1), (10, 1)]), [10, 12, 13]);
    }

    #[test]
    fn the_proportional_set_is_read_and_not_one_of_its_kinds() {
        let rollup =
            "5595-7ffe ---p 00000000 00:00 0    [rollup]\nRss:     1724 kB\nPss:      330 kB\nPss_Dirty:  112 kB\n";
        assert_eq!(pss(rollup), Some(330));
    }

    #[test]
    fn a_core_is_busy_with_all_but_idling_and_waiting() {
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 1 20 5000 400 3 4 5 7 8\ncpu1 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(core_ticks(stat, 0), Some(133));
        assert_eq!(core_ticks(stat, 2), None);
    }
}
