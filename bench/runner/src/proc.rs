//! What the kernel says about processes and cores, from /proc.
//!
//! It reads, and changes nothing. Figures are totals since the start; a caller takes the difference of two.

use std::collections::BTreeMap;
use std::fs;
use std::io;

/// What a tree of processes has used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Usage {
    /// Nanoseconds on a core by thread, as the scheduler counted them.
    threads: BTreeMap<u32, u64>,
    /// Clock ticks in the program, with those of children that are gone.
    user: u64,
    /// Clock ticks in the kernel, with those of children that are gone.
    system: u64,
}

/// CPU time, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spent {
    pub(crate) total: f64,
    /// The part of `total` that the program took; the kernel took the rest. From 0 to 1.
    pub(crate) user_share: f64,
}

impl Usage {
    /// What this process and all below it have used so far.
    pub(crate) fn of_tree(root: u32) -> io::Result<Self> {
        let mut usage = Self::default();
        for pid in Tree::look()?.below(root) {
            // A process that went away since we listed it is counted by its parent.
            let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
            let Some(stat) = Stat::parse(&stat) else { continue };
            usage.user += stat.user;
            usage.system += stat.system;
            usage.threads.extend(threads(pid));
        }
        Ok(usage)
    }

    /// What was used since `before`.
    ///
    /// The scheduler counts in nanoseconds, but only for threads that still live; if one has ended, or the kernel does not
    /// count, the ticks must do.
    pub(crate) fn since(&self, before: &Self) -> Spent {
        let user = ticks(self.user.saturating_sub(before.user));
        let system = ticks(self.system.saturating_sub(before.system));
        let all_live =
            !self.threads.is_empty() && before.threads.keys().all(|thread| self.threads.contains_key(thread));
        let precise =
            self.threads.iter().map(|(thread, now)| now.saturating_sub(*before.threads.get(thread).unwrap_or(&0)));
        let total = if all_live { float(precise.sum()) / 1e3 } else { user + system };
        Spent { total, user_share: if user + system > 0.0 { user / (user + system) } else { 0.0 } }
    }
}

/// Who is whose child: (process, parent).
pub(crate) struct Tree(Vec<(u32, u32)>);

impl Tree {
    /// All processes of this moment.
    pub(crate) fn look() -> io::Result<Self> {
        let mut parents = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| Stat::parse(&stat));
            parents.extend(stat.map(|stat| (pid, stat.parent)));
        }
        Ok(Self(parents))
    }

    /// The children of a process.
    pub(crate) fn children(&self, parent: u32) -> Vec<u32> {
        self.0.iter().filter(|(_, its)| *its == parent).map(|(pid, _)| *pid).collect()
    }

    /// A process, then its children, then theirs.
    pub(crate) fn below(&self, root: u32) -> Vec<u32> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            found.extend(self.children(parent));
            next += 1;
        }
        found
    }
}

/// Whether a process is there, and not only its exit code.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, behind)| !behind.trim_start().starts_with(['Z', 'X']))
}

/// Nanoseconds on a core, by thread of a process.
fn threads(pid: u32) -> Vec<(u32, u64)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let thread = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, on_core(&fs::read_to_string(entry.path().join("schedstat")).ok()?)?))
    };
    entries.flatten().filter_map(thread).collect()
}

/// The first figure of a `schedstat`: nanoseconds on a core.
fn on_core(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().next()?.parse().ok()
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

/// The proportional set size of a process and all below it, in megabytes (of 10^6 bytes).
pub(crate) fn memory(root: u32) -> io::Result<f64> {
    Tree::look()?.below(root).into_iter().map(memory_of).sum()
}

/// The same of one process.
pub(crate) fn memory_of(pid: u32) -> io::Result<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    Ok(float(pss(&rollup).ok_or(io::ErrorKind::InvalidData)?) * 1024.0 / 1e6)
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
        let tree = Tree(vec![(1, 0), (12, 10), (13, 12), (14, 1), (10, 1)]);
        assert_eq!((tree.below(10), tree.children(1)), (vec![10, 12, 13], vec![14, 10]));
    }

    #[test]
    fn threads_that_live_are_counted_by_the_nanosecond() {
        let before = Usage { threads: [(1, 1000), (2, 5000)].into(), user: 10, system: 10 };
        let after = Usage { threads: [(1, 501_000), (2, 5000), (3, 500_000)].into(), user: 11, system: 13 };
        assert_eq!(after.since(&before), Spent { total: 1000.0, user_share: 0.25 });
    }

    #[test]
    fn a_thread_that_ended_leaves_its_ticks() {
        let before = Usage { threads: [(1, 1000), (2, 5000)].into(), user: 10, system: 10 };
        let after = Usage { threads: [(1, 501_000)].into(), user: 12, system: 12 };
        let tick = 1e6 / float(rustix::param::clock_ticks_per_second());
        assert_eq!(after.since(&before), Spent { total: 4.0 * tick, user_share: 0.5 });
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

    #[test]
    fn a_schedstat_begins_with_the_time_on_a_core() {
        assert_eq!(on_core("79269814 81824 6\n"), Some(79_269_814));
    }
}
