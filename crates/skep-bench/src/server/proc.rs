//! What the kernel says about processes, from /proc.
//!
//! It reads, and changes nothing. Figures are totals since the start; a caller takes the difference of two.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use crate::number::float;

/// A process that is watched, with all below it and all of its group.
///
/// ```
/// use skep_bench::server::Watched;
///
/// let own = Watched::process(std::process::id())?;
/// let before = own.usage()?;
/// let spent = own.usage()?.since(&before);
/// assert!(spent.cpu_us >= 0.0 && own.memory()? > 0.0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    root: u32,
    /// Of a server that we started: those of its processes that lost their parent are still in it.
    group: Option<u32>,
}

/// What processes have used.
///
/// See [`Watched`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Nanoseconds on a core by thread, as the scheduler counted them.
    threads: BTreeMap<u32, u64>,
    /// Clock ticks in the program, with those of children that are gone.
    user: u64,
    /// Clock ticks in the kernel, with those of children that are gone.
    system: u64,
    /// Switches by thread, wanted and unwanted together.
    switches: BTreeMap<u32, u64>,
}

/// What was used between two moments.
///
/// See [`Watched`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Microseconds on a core, in the program and in the kernel.
    pub cpu_us: f64,
    /// The part of it that the program took; the kernel took the rest. From 0 to 1.
    pub user_share: f64,
    /// Context switches, of threads that are still there.
    pub switches: f64,
}

impl Watched {
    /// Watches a process that runs already.
    pub fn process(id: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"))
            .map_err(|_| io::Error::new(io::ErrorKind::NotFound, format!("there is no process {id}")))?;
        Stat::parse(&stat).map(|_| Self { root: id, group: None }).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    pub(super) fn leader(id: u32) -> Self {
        Self { root: id, group: Some(id) }
    }

    /// What it and all below it have used so far. See [`Watched`].
    pub fn usage(&self) -> io::Result<Usage> {
        let mut usage = Usage::default();
        for (pid, stat) in self.processes()? {
            usage.user += stat.user;
            usage.system += stat.system;
            for (thread, on_core, switches) in threads(pid) {
                usage.threads.insert(thread, on_core);
                usage.switches.insert(thread, switches);
            }
        }
        Ok(usage)
    }

    /// The proportional set size of all of them, in megabytes (of 10^6 bytes). See [`Watched`].
    pub fn memory(&self) -> io::Result<f64> {
        let mut kib = 0;
        for (pid, _) in self.processes()? {
            // A process that has just ended has none.
            kib +=
                fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok().and_then(|text| pss(&text)).unwrap_or(0);
        }
        Ok(float(kib) * 1024.0 / 1e6)
    }

    /// How many processes there are. See [`Watched`].
    pub fn count(&self) -> io::Result<usize> {
        Ok(self.processes()?.len())
    }

    fn processes(&self) -> io::Result<Vec<(u32, Stat)>> {
        let mut all = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| Stat::parse(&stat));
            all.extend(stat.map(|stat| (pid, stat)));
        }
        let found = self.family(&all);
        if found.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("process {} is gone", self.root)));
        }
        Ok(found)
    }

    /// The root, those of its group, and all below them.
    fn family(&self, all: &[(u32, Stat)]) -> Vec<(u32, Stat)> {
        let is_first = |(pid, stat): &&(u32, Stat)| *pid == self.root || self.group == Some(stat.group);
        let mut found: Vec<(u32, Stat)> = all.iter().filter(is_first).copied().collect();
        let mut next = 0;
        while let Some(&(parent, _)) = found.get(next) {
            let known: Vec<u32> = found.iter().map(|(pid, _)| *pid).collect();
            found.extend(all.iter().filter(|(pid, stat)| stat.parent == parent && !known.contains(pid)));
            next += 1;
        }
        found
    }
}

impl Usage {
    /// What was used since `before`. See [`Watched`].
    ///
    /// The scheduler counts in nanoseconds, but only for threads that still live; if one has ended, or the kernel does not
    /// count, the ticks must do.
    #[must_use]
    pub fn since(&self, before: &Self) -> Spent {
        let user = ticks(self.user.saturating_sub(before.user));
        let system = ticks(self.system.saturating_sub(before.system));
        let all_live =
            !self.threads.is_empty() && before.threads.keys().all(|thread| self.threads.contains_key(thread));
        let more = |now: &BTreeMap<u32, u64>, before: &BTreeMap<u32, u64>| {
            float(now.iter().map(|(thread, now)| now.saturating_sub(*before.get(thread).unwrap_or(&0))).sum())
        };
        Spent {
            cpu_us: if all_live { more(&self.threads, &before.threads) / 1e3 } else { user + system },
            user_share: if user + system > 0.0 { user / (user + system) } else { 0.0 },
            switches: more(&self.switches, &before.switches),
        }
    }
}

/// Thread, nanoseconds on a core, context switches.
fn threads(pid: u32) -> Vec<(u32, u64, u64)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let thread = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let on_core = on_core(&fs::read_to_string(entry.path().join("schedstat")).ok()?)?;
        let switches = switches(&fs::read_to_string(entry.path().join("status")).ok()?);
        Some((id, on_core, switches))
    };
    entries.flatten().filter_map(thread).collect()
}

/// The first figure of a `schedstat`: nanoseconds on a core.
fn on_core(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().next()?.parse().ok()
}

fn switches(status: &str) -> u64 {
    let lines = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

/// Some of a process's `stat`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stat {
    parent: u32,
    group: u32,
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
            group: fields.get(2)?.parse().ok()?,
            user: ticks(11)? + ticks(13)?,
            system: ticks(12)? + ticks(14)?,
        })
    }
}

/// The `Pss` of a `smaps_rollup`, in KiB.
fn pss(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// For how many microseconds the cores of this machine were not idle.
pub(crate) fn busy() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    Some(ticks(busy_ticks(&stat)?))
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq, steal; then guests, who are in `user` already.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    Some(fields.iter().enumerate().filter(|(place, _)| !matches!(place, 3 | 4)).map(|(_, ticks)| ticks).sum())
}

/// Clock ticks in microseconds.
fn ticks(ticks: u64) -> f64 {
    float(ticks) * 1e6 / float(rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(parent: u32, group: u32) -> Stat {
        Stat { parent, group, user: 0, system: 0 }
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let text = "11387 (a (b) c) S 11383 11380 6659 0 -1 4194304 91 77 1 1 7 3 40 2 20 0 1 0 166097 2654208 405";
        assert_eq!(Stat::parse(text), Some(Stat { parent: 11383, group: 11380, user: 47, system: 5 }));
    }

    #[test]
    fn a_family_has_children_orphans_of_its_group_and_nobody_else() {
        let all = [
            (1, stat(0, 1)),
            (10, stat(1, 10)),
            (12, stat(10, 12)),
            (13, stat(12, 12)),
            (14, stat(1, 14)),
            (15, stat(1, 10)),
        ];
        let family = |watched: Watched| watched.family(&all).iter().map(|(pid, _)| *pid).collect::<Vec<_>>();
        assert_eq!(family(Watched { root: 10, group: None }), [10, 12, 13]);
        assert_eq!(family(Watched { root: 10, group: Some(10) }), [10, 15, 12, 13]);
    }

    #[test]
    fn threads_that_live_are_counted_by_the_nanosecond() {
        let switches = BTreeMap::from([(1, 5)]);
        let before = Usage { threads: [(1, 1000), (2, 5000)].into(), user: 10, system: 10, switches };
        let switches = BTreeMap::from([(1, 8), (3, 4)]);
        let after = Usage { threads: [(1, 501_000), (2, 5000), (3, 500_000)].into(), user: 11, system: 13, switches };
        assert_eq!(after.since(&before), Spent { cpu_us: 1000.0, user_share: 0.25, switches: 7.0 });
    }

    #[test]
    fn a_thread_that_ended_leaves_its_ticks() {
        let before = Usage { threads: [(1, 1000), (2, 5000)].into(), user: 10, system: 10, ..Usage::default() };
        let after = Usage { threads: [(1, 501_000)].into(), user: 12, system: 12, ..Usage::default() };
        let tick = 1e6 / float(rustix::param::clock_ticks_per_second());
        assert_eq!(after.since(&before), Spent { cpu_us: 4.0 * tick, user_share: 0.5, switches: 0.0 });
    }

    #[test]
    fn what_the_kernel_writes_is_read() {
        let rollup =
            "5595-7ffe ---p 00000000 00:00 0    [rollup]\nRss:     1724 kB\nPss:      330 kB\nPss_Dirty:  112 kB\n";
        assert_eq!(pss(rollup), Some(330));
        assert_eq!(on_core("79269814 81824 6\n"), Some(79_269_814));
        assert_eq!(switches("Name:\ta\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n"), 10);
        assert_eq!(busy_ticks("cpu  100 1 20 5000 400 3 4 5 7 8\ncpu0 1 1 1 1 1 1 1 1 0 0\n"), Some(133));
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        assert_eq!(Watched::process(u32::MAX).unwrap_err().to_string(), "there is no process 4294967295");
    }
}
