//! Puts overview and metrics together, and remembers what they were.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::history::{History, Sample};
use super::totals::Totals;
use crate::clock::unix_millis;
use crate::metrics::figures::{Figures, Service};
use crate::metrics::{Counter, Metrics};
use crate::overview::{Overview, PartOverview};
use crate::process;

/// How old an observation may be: clients that ask more often get the same one, so the cost is bounded.
const FRESH: Duration = Duration::from_millis(250);

/// What can be said of a server at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observation {
    /// In milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) overview: Overview,
    /// Why there is no overview.
    pub(crate) problem: Option<String>,
    pub(crate) figures: Figures,
    pub(crate) caches: Vec<CacheFigures>,
    pub(crate) tiers: Vec<TierFigures>,
    pub(crate) pools: Vec<PoolFigures>,
    /// Milliseconds of processor time: of the supervisor, of all workers.
    pub(crate) cpu: [u64; 2],
}

/// What a cache has done, in all processes since the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct CacheFigures {
    pub(crate) name: String,
    pub(crate) hits: u64,
    pub(crate) stale: u64,
    pub(crate) misses: u64,
    pub(crate) computations: u64,
    /// Calls that got the result of another caller's computation: stampedes that did not happen.
    pub(crate) coalesced: u64,
    pub(crate) failures: u64,
}

/// What a driver holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct TierFigures {
    pub(crate) name: String,
    pub(crate) driver: String,
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    pub(crate) evicted: u64,
}

/// The connections to a database, of all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct PoolFigures {
    pub(crate) name: String,
    pub(crate) connections: u64,
    pub(crate) busy: u64,
    /// Who waits for one.
    pub(crate) waiting: u64,
    /// Since the server started; 0 for SQLite, whose connections are of a file.
    pub(crate) opened: u64,
    pub(crate) lost: u64,
    /// Attempts to open one.
    pub(crate) failed: u64,
}

/// Says how the server is.
pub trait OverviewSource: std::fmt::Debug + Send + Sync {
    /// What the server says of itself and its workers. It may block for a moment.
    ///
    /// # Errors
    /// Why it says nothing, for people.
    fn overview(&self) -> Result<Overview, String>;
}

/// Observes a server, for all who read its status page.
#[derive(Debug)]
pub struct Observer {
    source: Box<dyn OverviewSource>,
    metrics: Arc<Metrics>,
    state: Mutex<Remembered>,
    pub(crate) history: History,
}

#[derive(Debug, Default)]
struct Remembered {
    totals: Totals,
    last: Option<(Instant, Arc<Observation>)>,
    /// The last observation that went into the history.
    sampled: Option<Arc<Observation>>,
}

impl Observer {
    /// For a server that counts in these metrics, with the history in the data directory.
    ///
    /// # Errors
    /// The file of the history cannot be opened.
    pub fn new(source: Box<dyn OverviewSource>, metrics: Arc<Metrics>, data: &Path) -> std::io::Result<Self> {
        Ok(Self { source, metrics, state: Mutex::default(), history: History::open(data)? })
    }

    fn state(&self) -> MutexGuard<'_, Remembered> {
        skep_units::lock(&self.state)
    }

    /// What is so now, or was a moment ago. Blocks until the supervisor has replied.
    pub(crate) fn observe(&self) -> Arc<Observation> {
        let mut state = self.state();
        if let Some((at, last)) = &state.last
            && at.elapsed() < FRESH
        {
            return Arc::clone(last);
        }
        let (overview, problem) = match self.source.overview() {
            Ok(overview) => (overview, None),
            Err(problem) => (Overview::default(), Some(problem)),
        };
        let parts = overview.application.as_deref().unwrap_or_default();
        let serving = overview.workers.first().map_or(0, |worker| worker.process);
        let processes: BTreeSet<u32> = overview.processes().into_iter().map(|(_, process)| process).collect();
        report_storage(&mut state.totals, parts, serving);
        report_processor_time(&mut state.totals, &overview);
        if problem.is_none() {
            state.totals.retain(&processes);
        }
        let figures = self.metrics.figures(|process| overview.is_busy(process));
        let observation = Arc::new(Observation {
            at: unix_millis(),
            caches: caches(&state.totals),
            tiers: tiers(&state.totals, parts),
            pools: pools(&state.totals, parts),
            cpu: ["supervisor", "worker"].map(|role| state.totals.get("processor time", role)),
            figures,
            problem,
            overview,
        });
        state.last = Some((Instant::now(), Arc::clone(&observation)));
        observation
    }

    /// Adds what happened since the last call to the history.
    pub(crate) fn sample(&self) {
        let now = self.observe();
        let before = self.state().sampled.replace(Arc::clone(&now));
        // Without a state before, nobody knows how much of it is new.
        let Some(before) = before else { return };
        if let Err(error) = self.history.write(&Sample::between(&before, &now)) {
            tracing::warn!(target: "skep::status", %error, "the history of the status page was not written");
        }
    }
}

impl Observation {
    /// What was requested since an earlier observation.
    pub(crate) fn requests_since(&self, earlier: &Self) -> Service {
        self.figures.total().since(&earlier.figures.total())
    }

    pub(crate) fn counted_since(&self, earlier: &Self, counter: Counter) -> u64 {
        self.figures.counter(counter).saturating_sub(earlier.figures.counter(counter))
    }

    /// Of all processes, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let workers: u64 = self.overview.workers.iter().map(|worker| worker.memory).sum();
        let own = self.overview.workers.iter().any(|worker| worker.process == self.overview.process);
        if own { workers } else { workers + self.overview.memory }
    }

    pub(crate) fn sessions(&self) -> Option<&TierFigures> {
        self.tiers.iter().find(|tier| tier.name == "sessions")
    }
}

const CACHE_COUNTERS: [&str; 6] = ["hits", "stale", "misses", "computations", "coalesced", "failures"];

fn report_storage(totals: &mut Totals, parts: &[PartOverview], serving: u32) {
    for part in parts {
        let Some(name) = part.name.as_deref() else { continue };
        let keys: &[&str] = match name {
            _ if name.starts_with("cache ") => &CACHE_COUNTERS,
            _ if is_tier(name) => &["evicted"],
            _ if name.starts_with("pool ") => &["opened", "lost", "failed"],
            _ => &[],
        };
        for key in keys {
            if let Some(number) = number(part, key) {
                totals.report(part.process.unwrap_or(serving), (name.to_owned(), (*key).to_owned()), number);
            }
        }
    }
}

fn report_processor_time(totals: &mut Totals, overview: &Overview) {
    for (role, process) in overview.processes() {
        if let Some(millis) = process::processor_time(process) {
            totals.report(process, ("processor time".to_owned(), role.to_owned()), millis);
        }
    }
}

/// True for what caches, sessions and the database say, which is shown elsewhere than what the application says.
pub(crate) fn is_storage(part: &str) -> bool {
    part.starts_with("cache ") || part.starts_with("pool ") || is_tier(part)
}

fn is_tier(part: &str) -> bool {
    part.starts_with("tiers ") || part == "sessions"
}

fn number(part: &PartOverview, key: &str) -> Option<u64> {
    part.values.get(key)?.as_u64()
}

fn caches(totals: &Totals) -> Vec<CacheFigures> {
    let names: BTreeSet<&str> =
        totals.iter().map(|(part, ..)| part).filter(|part| part.starts_with("cache ")).collect();
    let figures = |part: &str| CacheFigures {
        name: part.trim_start_matches("cache ").to_owned(),
        hits: totals.get(part, "hits"),
        stale: totals.get(part, "stale"),
        misses: totals.get(part, "misses"),
        computations: totals.get(part, "computations"),
        coalesced: totals.get(part, "coalesced"),
        failures: totals.get(part, "failures"),
    };
    names.into_iter().map(figures).collect()
}

/// Processes have memory of their own, and share all else.
fn tiers(totals: &Totals, parts: &[PartOverview]) -> Vec<TierFigures> {
    let mut all: Vec<TierFigures> = Vec::new();
    for part in parts {
        let Some(name) = part.name.as_deref().filter(|name| is_tier(name)) else { continue };
        let number = |key: &str| number(part, key).unwrap_or(0);
        let driver = part.values.get("driver").and_then(serde_json::Value::as_str).unwrap_or_default();
        let short = name.trim_start_matches("tiers ");
        let (entries, bytes, evicted) = (number("entries"), number("bytes"), totals.get(name, "evicted"));
        let Some(known) = all.iter_mut().find(|known| known.name == short) else {
            let (name, driver) = (short.to_owned(), driver.to_owned());
            all.push(TierFigures { name, driver, entries, bytes, evicted });
            continue;
        };
        let join = if driver == "memory" { u64::saturating_add } else { u64::max };
        (known.entries, known.bytes) = (join(known.entries, entries), join(known.bytes, bytes));
    }
    all
}

fn pools(totals: &Totals, parts: &[PartOverview]) -> Vec<PoolFigures> {
    let mut all: Vec<PoolFigures> = Vec::new();
    for part in parts {
        let Some(name) = part.name.as_deref().filter(|name| name.starts_with("pool ")) else { continue };
        let short = name.trim_start_matches("pool ");
        let at = all.iter().position(|known| known.name == short).unwrap_or_else(|| {
            let [opened, lost, failed] = ["opened", "lost", "failed"].map(|key| totals.get(name, key));
            all.push(PoolFigures { name: short.to_owned(), opened, lost, failed, ..PoolFigures::default() });
            all.len() - 1
        });
        let number = |key: &str| number(part, key).unwrap_or(0);
        all[at].connections += number("connections");
        all[at].busy += number("busy");
        all[at].waiting += number("waiting");
    }
    all
}
