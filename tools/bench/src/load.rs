//! Load on a server: which requests, when, over which connections, and what came back.
//!
//! The clients here share nothing with the server that they measure: HTTP/1.1 has the parser of `skep-client`, HTTP/2
//! is the crate `h2`. Everything runs on the calling thread, unless [more](Plan::threads) are wanted; each wants a core
//! for itself. A request that failed is counted and not sent again.
//!
//! Start reading at [`run`].

mod access_log;
mod answer;
mod client;
mod figures;
mod h1;
mod h2;
mod pace;
mod progress;
mod request;
mod search;
mod target;
mod threads;
mod tls;

use std::fmt;
use std::time::Duration;

pub use access_log::{Replay, read_access_log};
pub use answer::{FetchedResponse, fetch};
pub(crate) use figures::histogram;
pub use figures::{ErrorKind, Errors, Figures, Moment};
pub use pace::Pace;
pub use progress::{Silent, Watch};
pub use request::{RequestSpec, read_urls};
pub use search::{Bound, Search, Tried};
pub use target::Target;
pub use tls::Trust;

use self::client::{Phase, Share, client};
use crate::core;

/// The version of HTTP that is spoken. See [`Plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: by ALPN over TLS, with prior knowledge otherwise.
    Http2,
}

/// A load.
///
/// ```no_run
/// use std::time::Duration;
/// use skep_bench::load::{self, Pace, Plan};
///
/// let mut plan = Plan::of("http://127.0.0.1:8080/".parse()?);
/// plan.pace = Pace::Open { per_second: 1000.0 };
/// plan.time = Duration::from_secs(30);
/// let figures = load::run(&plan)?;
/// println!("{} answers, p99 {:?}", figures.answers, figures.percentile(99.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the server is.
    pub target: Target,
    /// Which HTTP is spoken.
    pub http: Version,
    /// Connections: at least 1.
    pub connections: usize,
    /// Threads that share the connections: at least 1, and no more than there are connections.
    pub threads: usize,
    /// Requests at once on each connection: pipelined in HTTP/1.1, streams in HTTP/2.
    pub depth: usize,
    /// Whether a connection serves more than one request.
    pub reuse: bool,
    /// When requests are sent.
    pub pace: Pace,
    /// Whether its threads ask the kernel for answers all the time and never sleep, so that waking them costs the
    /// server nothing. Each then fills a core. Over HTTP/1.1 only.
    pub busy: bool,
    /// Whether a closed loop, too, waits for the answers under way at its end, and counts them: then what a server did
    /// in this time is what these answers took, however long each of them takes.
    pub drain: bool,
    /// Load before anything counts, at the same pace. Of a ramp, at what it begins with.
    pub warm_up: Duration,
    /// How long it is measured.
    pub time: Duration,
    /// Ends the measuring earlier, after this number of answers and errors.
    pub count: Option<u64>,
    /// The requests, in turn; one at least.
    pub requests: Vec<RequestSpec>,
    /// The cores that the threads are bound to, in turn; none: the kernel chooses.
    pub pin: Vec<usize>,
    /// How long an answer may take. In an open loop also how long is waited for the last ones.
    pub timeout: Duration,
    /// The largest answer in bytes.
    pub largest: u64,
    /// Whose certificates are good.
    pub trust: Trust,
}

impl Plan {
    /// A closed loop of 32 connections for ten seconds, after one second that does not count. See [`Plan`].
    #[must_use]
    pub fn of(target: Target) -> Self {
        let requests = vec![RequestSpec::get(target.path())];
        Self {
            target,
            http: Version::Http1,
            connections: 32,
            threads: 1,
            depth: 1,
            reuse: true,
            pace: Pace::Closed,
            busy: false,
            drain: false,
            warm_up: Duration::from_secs(1),
            time: Duration::from_secs(10),
            count: None,
            requests,
            pin: Vec::new(),
            timeout: Duration::from_secs(10),
            largest: 1 << 30,
            trust: Trust::System,
        }
    }

    /// Whether it makes sense; otherwise why not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let wrong = |text: &str| Err(text.to_owned());
        match self {
            Self { connections: 0, .. } => wrong("a load needs a connection at least"),
            Self { threads: 0, .. } => wrong("a load needs a thread at least"),
            Self { threads, connections, .. } if threads > connections => {
                wrong("each thread needs a connection at least")
            }
            Self { threads, pin, .. } if pin.len() > *threads => wrong("more cores are named than there are threads"),
            Self { depth: 0, .. } => wrong("a connection has one request at once at least"),
            Self { requests, .. } if requests.is_empty() => wrong("there is no request to send"),
            Self { busy: true, http: Version::Http2, .. } => {
                wrong("a busy load speaks HTTP/1.1: over HTTP/2 it waits in a runtime, which sleeps")
            }
            Self { depth: 2.., reuse: false, .. } => wrong("a connection for each request has one request at once"),
            _ => self.pace.check(),
        }
    }
}

/// Why there are no figures, or fewer than planned.
///
/// See [`run`].
#[derive(Debug)]
pub struct LoadError {
    why: Why,
    so_far: Option<Box<Figures>>,
}

#[derive(Debug)]
pub(crate) enum Why {
    /// The plan contradicts itself.
    Plan(String),
    /// Nobody answers, from the beginning.
    Unreachable(String),
    /// It answered, and then for so long nothing but errors came.
    Lost { after: Duration, last: String },
    /// SIGINT or SIGTERM.
    Interrupted,
    /// Of this machine: no socket, no core.
    Here(String),
}

impl LoadError {
    pub(crate) fn new(why: Why) -> Self {
        Self { why, so_far: None }
    }

    pub(crate) fn here(what: &str, error: impl fmt::Display) -> Self {
        Self::new(Why::Here(format!("{what}: {error}")))
    }

    pub(crate) fn with(mut self, figures: Figures) -> Self {
        self.so_far = Some(Box::new(figures));
        self
    }

    /// What was measured until then, if anything was.
    #[must_use]
    pub fn so_far(&self) -> Option<&Figures> {
        self.so_far.as_deref()
    }

    /// The person at the terminal ended it.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self.why, Why::Interrupted)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::Plan(text) | Why::Unreachable(text) | Why::Here(text) => f.write_str(text),
            Why::Lost { after, last } => {
                write!(f, "the server was lost {:.1} s after the beginning; since then: {last}", after.as_secs_f64())
            }
            Why::Interrupted => f.write_str("ended by a signal"),
        }
    }
}

impl std::error::Error for LoadError {}

/// Loads a server, and says what came back.
///
/// # Errors
///
/// If nobody answers, if the server is lost on the way (the error has the [figures until then](LoadError::so_far)), if
/// the plan makes no sense. Single failures are no error here: they are counted in [`Figures::errors`].
///
/// See [`Plan`] for an example.
pub fn run(plan: &Plan) -> Result<Figures, LoadError> {
    run_watched(plan, &mut Silent)
}

/// The same, and tells `watch` when measuring begins, how it goes, and when it ends. See [`Watch`].
pub fn run_watched(plan: &Plan, watch: &mut dyn Watch) -> Result<Figures, LoadError> {
    plan.check().map_err(|text| LoadError::new(Why::Plan(text)))?;
    let figures = if plan.threads == 1 { alone(plan, watch)? } else { threads::run(plan, watch)? };
    if figures.is_silent() {
        let text = format!("{} takes connections, and answered nothing in {:.1?}", plan.target, figures.elapsed);
        return Err(LoadError::new(Why::Unreachable(text)));
    }
    Ok(figures)
}

/// A load by the calling thread.
fn alone(plan: &Plan, watch: &mut dyn Watch) -> Result<Figures, LoadError> {
    let bound = plan.pin.first().map(|core| core::Bound::to(*core)).transpose();
    let _bound = bound.map_err(|error| LoadError::new(Why::Here(error)))?;
    let mut client = client(plan, Share::WHOLE)?;
    if let Some(phase) = Phase::warm_up(plan) {
        watch.warms_up(phase.time);
        client.phase(phase, &mut Silent)?;
    }
    watch.begins();
    let outcome = client.phase(Phase::measured(plan), watch);
    watch.ends();
    outcome
}
