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
pub struct Usage(BTreeMap<Id, Process>);

/// A process, and when it began: numbers of processes come again, soon where each request has its own.
type Id = (u32, u64);

/// What one process has used.
#[derive(Debug, Clone, Default, PartialEq)]
struct Process {
    /// Those of its threads that live.
    threads: BTreeMap<u32, Thread>,
    /// Of all its threads, those that ended among them.
    own: Ticks,
    /// Of those of its children that ended and that it waited for, and of theirs.
    of_children: Ticks,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Thread {
    /// Nanoseconds on a core, as the scheduler counted them.
    on_core: u64,
    /// Wanted and unwanted together.
    switches: u64,
}

/// Clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Ticks {
    user: u64,
    system: u64,
}

/// What was used between two moments.
///
/// See [`Watched`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Microseconds on a core, in the program and in the kernel. Of processes and threads that ended as exact as clock
    /// ticks are.
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

    /// Watches a process that leads a group: with it those of the group that lost their parent. See [`Watched`].
    #[must_use]
    pub fn leader(id: u32) -> Self {
        Self { root: id, group: Some(id) }
    }

    /// What it and all below it have used so far. See [`Watched`].
    pub fn usage(&self) -> io::Result<Usage> {
        let processes = self.processes()?.into_iter().map(|(pid, stat)| {
            ((pid, stat.began), Process { threads: threads(pid), own: stat.own, of_children: stat.of_children })
        });
        Ok(Usage(processes.collect()))
    }

    /// The proportional set size of all of them, in megabytes (of 10^6 bytes). See [`Watched`].
    pub fn memory(&self) -> io::Result<f64> {
        Ok(self.sizes()?.values().sum())
    }

    /// The same by process.
    ///
    /// ```
    /// let own = std::process::id();
    /// let sizes = skep_bench::server::Watched::process(own)?.sizes()?;
    /// assert!(sizes[&own] > 0.0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn sizes(&self) -> io::Result<BTreeMap<u32, f64>> {
        let size = |(pid, _)| {
            let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok();
            // A process that has just ended has none.
            let kib = rollup.and_then(|text| pss(&text)).unwrap_or(0);
            (pid, float(kib) * 1024.0 / 1e6)
        };
        Ok(self.processes()?.into_iter().map(size).collect())
    }

    /// How many processes there are. See [`Watched`].
    pub fn count(&self) -> io::Result<usize> {
        Ok(self.processes()?.len())
    }

    /// Its children, without theirs. See [`lives`] for an example.
    pub fn children(&self) -> io::Result<Vec<u32>> {
        Ok(all()?.into_iter().filter(|(_, stat)| stat.parent == self.root).map(|(pid, _)| pid).collect())
    }

    fn processes(&self) -> io::Result<Vec<(u32, Stat)>> {
        let found = self.family(&all()?);
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

/// Whether a process is there, and not only its exit status.
///
/// ```
/// use skep_bench::server::{Watched, lives};
///
/// let mut child = std::process::Command::new("sleep").arg("60").spawn()?;
/// assert!(Watched::process(std::process::id())?.children()?.contains(&child.id()));
/// assert!(lives(child.id()));
/// child.kill()?;
/// child.wait()?;
/// assert!(!lives(child.id()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn lives(id: u32) -> bool {
    stat(id).is_some_and(|stat| !stat.has_ended)
}

impl Usage {
    /// What was used since `before`. See [`Watched`].
    ///
    /// The scheduler counts in nanoseconds, but only for threads that live; of what ended there are clock ticks, which
    /// a process keeps of its threads and of those children that it waited for. Who ended without a parent that waits
    /// is lost.
    #[must_use]
    pub fn since(&self, before: &Self) -> Spent {
        let all = self.all().since(before.all());
        let (mut live, mut ended, mut switches) = (0.0, 0.0, 0);
        for (id, now) in &self.0 {
            let before = before.0.get(id).cloned().unwrap_or_default();
            live += now.own_since(&before);
            ended += now.of_children.since(before.of_children).micros();
            switches += now.switches_since(&before);
        }
        // Of a child that ended its parent has the whole life.
        for (_, gone) in before.0.iter().filter(|(id, _)| !self.0.contains_key(id)) {
            ended -= gone.own_since(&Process::default()) + gone.of_children.micros();
        }
        Spent {
            cpu_us: live + ended.max(0.0),
            user_share: if all.micros() > 0.0 { float(all.user) / float(all.user + all.system) } else { 0.0 },
            switches: float(switches),
        }
    }

    /// In ticks, what ended and what lives.
    fn all(&self) -> Ticks {
        self.0.values().fold(Ticks::default(), |all, process| all.and(process.own).and(process.of_children))
    }
}

impl Process {
    /// Microseconds of its own threads.
    fn own_since(&self, before: &Self) -> f64 {
        let now = self.threads.iter();
        let nanos =
            now.map(|(id, now)| now.on_core.saturating_sub(before.threads.get(id).map_or(0, |old| old.on_core)));
        let (exact, coarse) = (float(nanos.sum()) / 1e3, self.own.since(before.own).micros());
        let has_lost = self.threads.is_empty() || before.threads.keys().any(|id| !self.threads.contains_key(id));
        // User and system ticks are each rounded down. More than that is missing if threads came and went in between.
        if has_lost || coarse > exact + ticks(2) { exact.max(coarse) } else { exact }
    }

    fn switches_since(&self, before: &Self) -> u64 {
        let now = self.threads.iter();
        now.map(|(id, now)| now.switches.saturating_sub(before.threads.get(id).map_or(0, |old| old.switches))).sum()
    }
}

impl Ticks {
    fn and(self, other: Self) -> Self {
        Self { user: self.user + other.user, system: self.system + other.system }
    }

    fn since(self, before: Self) -> Self {
        Self { user: self.user.saturating_sub(before.user), system: self.system.saturating_sub(before.system) }
    }

    fn micros(self) -> f64 {
        ticks(self.user + self.system)
    }
}

/// All processes of this moment.
fn all() -> io::Result<Vec<(u32, Stat)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        all.extend(stat(pid).map(|stat| (pid, stat)));
    }
    Ok(all)
}

fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The threads of a process that live.
fn threads(pid: u32) -> BTreeMap<u32, Thread> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let thread = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let on_core = on_core(&fs::read_to_string(entry.path().join("schedstat")).ok()?)?;
        let switches = switches(&fs::read_to_string(entry.path().join("status")).ok()?);
        Some((id, Thread { on_core, switches }))
    };
    entries.into_iter().flatten().flatten().filter_map(thread).collect()
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
    /// Only its exit status is still there.
    has_ended: bool,
    parent: u32,
    group: u32,
    own: Ticks,
    of_children: Ticks,
    /// In ticks since the machine's start.
    began: u64,
}

impl Stat {
    /// proc(5): the second field is a name in parentheses and may hold anything, so counting starts behind it.
    fn parse(stat: &str) -> Option<Self> {
        let (_, behind) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        Some(Self {
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            own: Ticks { user: number(11)?, system: number(12)? },
            of_children: Ticks { user: number(13)?, system: number(14)? },
            began: number(19)?,
        })
    }
}

/// The `Pss` of a `smaps_rollup`, in KiB.
fn pss(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// For how many microseconds the cores of this machine were not idle, or one of them: programs, interrupts and the
/// hypervisor.
///
/// ```
/// assert!(skep_bench::server::busy(None) >= skep_bench::server::busy(Some(0)));
/// ```
#[must_use]
pub fn busy(core: Option<usize>) -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    Some(ticks(busy_ticks(&stat, core)?))
}

/// proc(5): user, nice, system, idle, iowait, irq, softirq, steal; then guests, who are in `user` already.
fn busy_ticks(stat: &str, core: Option<usize>) -> Option<u64> {
    let name = core.map_or_else(|| "cpu ".to_owned(), |core| format!("cpu{core} "));
    let line = stat.lines().find_map(|line| line.strip_prefix(&name))?;
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
        let none = Ticks::default();
        Stat { has_ended: false, parent, group, own: none, of_children: none, began: 0 }
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let text = "11387 (a (b) c) S 11383 11380 6659 0 -1 4194304 91 77 1 1 7 3 40 2 20 0 1 0 166097 2654208 405";
        let (own, of_children) = (Ticks { user: 7, system: 3 }, Ticks { user: 40, system: 2 });
        let parsed = Stat { has_ended: false, parent: 11383, group: 11380, own, of_children, began: 166_097 };
        assert_eq!(Stat::parse(text), Some(parsed));
        assert!(Stat::parse(&text.replace(") S ", ") Z ")).unwrap().has_ended);
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

    /// A process of these threads, with their nanoseconds and switches, and with ticks in the program and in the
    /// kernel.
    fn process<const N: usize>(threads: [(u32, u64, u64); N], own: (u64, u64), of_children: (u64, u64)) -> Process {
        let threads = threads.map(|(id, on_core, switches)| (id, Thread { on_core, switches }));
        let ticks = |(user, system)| Ticks { user, system };
        Process { threads: threads.into(), own: ticks(own), of_children: ticks(of_children) }
    }

    fn usage<const N: usize>(processes: [(u32, Process); N]) -> Usage {
        Usage(processes.map(|(pid, process)| ((pid, 0), process)).into())
    }

    fn tick() -> f64 {
        ticks(1)
    }

    #[test]
    fn threads_that_live_are_counted_by_the_nanosecond() {
        let before = usage([(1, process([(1, 1000, 5), (2, 5000, 0)], (10, 10), (0, 0)))]);
        let threads = [(1, 501_000, 8), (2, 5000, 0), (3, 500_000, 4)];
        let after = usage([(1, process(threads, (11, 11), (0, 0)))]);
        assert_eq!(after.since(&before), Spent { cpu_us: 1000.0, user_share: 0.5, switches: 7.0 });
    }

    #[test]
    fn a_thread_that_ended_leaves_its_ticks() {
        let before = usage([(1, process([(1, 1000, 0), (2, 5000, 0)], (10, 10), (0, 0)))]);
        let after = usage([(1, process([(1, 501_000, 0)], (12, 12), (0, 0)))]);
        assert_eq!(after.since(&before), Spent { cpu_us: 4.0 * tick(), user_share: 0.5, switches: 0.0 });
    }

    #[test]
    fn a_thread_that_came_and_went_leaves_its_ticks() {
        let before = usage([(1, process([(1, 1000, 0)], (10, 10), (0, 0)))]);
        let after = usage([(1, process([(1, 501_000, 0)], (13, 11), (0, 0)))]);
        assert_eq!(after.since(&before), Spent { cpu_us: 4.0 * tick(), user_share: 0.75, switches: 0.0 });
    }

    #[test]
    fn a_child_that_ended_is_counted_from_the_first_look_on_and_who_lives_by_the_nanosecond() {
        let waits = |of_children| process([(1, 0, 0)], (0, 0), of_children);
        let child = process([(2, 3_000_000, 0)], (0, 0), (0, 0));
        let other = |on_core| process([(3, on_core, 0)], (0, 0), (0, 0));
        let before = usage([(1, waits((5, 0))), (2, child), (3, other(1000))]);
        let after = usage([(1, waits((14, 1))), (3, other(8000))]);
        let spent = after.since(&before);
        let expected = 10.0 * tick() - 3000.0 + 7.0;
        assert!((spent.cpu_us - expected).abs() < 1e-6 && (spent.user_share - 0.9).abs() < 1e-9, "{spent:?}");
    }

    #[test]
    fn what_children_took_that_came_and_went_between_two_looks_is_not_lost() {
        let own = Watched::process(std::process::id()).unwrap();
        let before = own.usage().unwrap();
        let spin = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times";
        let output = std::process::Command::new("sh").args(["-c", spin]).output().unwrap();
        let spent = own.usage().unwrap().since(&before);
        // The first line of `times` is the shell's own: `0m0.310s 0m0.020s`.
        let said = String::from_utf8(output.stdout).unwrap();
        let seconds = |word: &str| word.strip_prefix("0m")?.strip_suffix('s')?.parse::<f64>().ok();
        let child: f64 = said.lines().next().unwrap().split_whitespace().map(|word| seconds(word).unwrap()).sum();
        assert!(child > 0.05 && spent.cpu_us > child * 1e6 - ticks(2), "{said} {spent:?}");
    }

    #[test]
    fn what_the_kernel_writes_is_read() {
        let stat = "cpu  100 1 20 5000 400 3 4 5 7 8\ncpu1 1 1 1 1 1 1 1 1 0 0\n";
        let rollup =
            "5595-7ffe ---p 00000000 00:00 0    [rollup]\nRss:     1724 kB\nPss:      330 kB\nPss_Dirty:  112 kB\n";
        assert_eq!(pss(rollup), Some(330));
        assert_eq!(on_core("79269814 81824 6\n"), Some(79_269_814));
        assert_eq!(switches("Name:\ta\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n"), 10);
        assert_eq!(busy_ticks(stat, None), Some(133));
        assert_eq!((busy_ticks(stat, Some(1)), busy_ticks(stat, Some(2))), (Some(6), None));
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        assert_eq!(Watched::process(u32::MAX).unwrap_err().to_string(), "there is no process 4294967295");
    }
}
