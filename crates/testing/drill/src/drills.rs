//! The disasters, one module for each kind.

mod broken;
mod clock;
mod crash;
mod flood;
mod hang;
mod hostile;
mod killed;
mod leak;
mod logs;
mod restart;
mod swap;

use std::fmt::Display;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::load::Load;
use crate::report::Report;
use crate::server::Server;
use crate::subject::Subject;
use Run::Scene;
use hostile::Hostile;

/// A disaster that is re-enacted.
#[derive(Debug)]
pub struct Drill {
    /// How it is chosen.
    pub name: &'static str,
    /// What happens in it, in one line.
    pub about: &'static str,
    /// Only an application that fails when it is asked to can be put through it.
    pub needs_ours: bool,
    pub(crate) run: Run,
}

/// How a drill is carried out.
#[derive(Debug)]
pub(crate) enum Run {
    /// With servers of its own, which it starts, kills or swaps.
    Scene(fn(&Stage<'_>, &mut Report) -> Result<()>),
    /// With hostile clients, which can be there together with others.
    Hostile(&'static Hostile),
}

/// All drills of executables, in the order in which they run.
pub const DRILLS: &[Drill] = &[
    Drill {
        name: "crash",
        about: "a handler ends its process, once in 250 requests, with 32 connections",
        needs_ours: true,
        run: Scene(crash::run),
    },
    Drill {
        name: "kill",
        about: "kill -9 of one worker, and of all of them",
        needs_ours: false,
        run: Scene(killed::workers),
    },
    Drill {
        name: "kill-supervisor",
        about: "kill -9 of the supervisor, and another start",
        needs_ours: false,
        run: Scene(killed::supervisor),
    },
    Drill { name: "swap", about: "twenty new versions under load", needs_ours: false, run: Scene(swap::run) },
    Drill { name: "broken", about: "swaps to files that are no version", needs_ours: false, run: Scene(broken::run) },
    Drill { name: "leak", about: "a handler forgets 1 MiB for each request", needs_ours: true, run: Scene(leak::run) },
    Drill { name: "hang", about: "a handler keeps its thread for ever", needs_ours: true, run: Scene(hang::run) },
    Drill {
        name: "flood",
        about: "10000 connections that say nothing or half a request, then TERM",
        needs_ours: false,
        run: Scene(flood::run),
    },
    Drill {
        name: "restart",
        about: "an application that dies at its start, again and again",
        needs_ours: true,
        run: Scene(restart::run),
    },
    Drill {
        name: "full-disk",
        about: "the disk of the access log is full, and has room again",
        needs_ours: false,
        run: Scene(logs::full_disk),
    },
    Drill {
        name: "slow-disk",
        about: "the access log is taken by 40 KB a second",
        needs_ours: false,
        run: Scene(logs::slow_disk),
    },
    Drill {
        name: "closed-pipe",
        about: "the access log is a pipe that nobody reads, then somebody, then nobody",
        needs_ours: false,
        run: Scene(logs::closed_pipe),
    },
    Drill {
        name: "clock",
        about: "the clock is set forwards and backwards (needs libfaketime)",
        needs_ours: false,
        run: Scene(clock::run),
    },
    attack("small-parts", "forms with 900 files of 65 KB, without an end", &hostile::SMALL_PARTS),
    attack("zero-windows", "2000 HTTP/2 streams whose client takes no byte", &hostile::ZERO_WINDOWS),
    attack("slow-bodies", "400 forms that arrive byte by byte", &hostile::SLOW_BODIES),
    attack("reset", "HTTP/2 streams, cancelled as soon as a handler works on them", &hostile::RESET),
    attack("rapid-reset", "HTTP/2 streams, cancelled in the same breath", &hostile::RAPID_RESET),
    attack("continuation", "an HTTP/2 request whose fields never end", &hostile::CONTINUATION),
    attack("empty-data", "an HTTP/2 body of empty frames", &hostile::EMPTY_DATA),
    attack("settings", "HTTP/2 settings, again and again, on a connection with 100 streams", &hostile::SETTINGS),
    attack("pings", "ever more pings", &hostile::PINGS),
    attack("tiny-windows", "HTTP/2 responses that are taken byte by byte", &hostile::TINY_WINDOWS),
    attack(
        "slow-clients",
        "10000 connections that drip heads, drip bodies, do not read, or say nothing",
        &hostile::SLOW_CLIENTS,
    ),
    attack("form-rows", "forms with 999 rows, 20 a second", &hostile::FORM_ROWS),
    attack("offload", "requests that need threads, of clients that are gone", &hostile::OFFLOAD),
    attack("sessions", "more sessions than may be kept", &hostile::SESSIONS),
    attack("tokens", "more forms that are accepted once than are remembered", &hostile::TOKENS),
    Drill {
        needs_ours: false,
        ..attack(
            "idle-prefork",
            "140 connections that say nothing, or half a request, to prefork",
            &hostile::IDLE_PREFORK,
        )
    },
    Drill { needs_ours: false, ..attack("one-address", "20000 connections of one address", &hostile::ONE_ADDRESS) },
    attack("cache-keys", "ever more pages that are cached", &hostile::CACHE_KEYS),
    attack("pipelined", "requests of 1 ms, messages and chunks of a byte, without an end", &hostile::PIPELINED),
    attack("log", "requests that are logged as refused", &hostile::LOG),
];

const fn attack(name: &'static str, about: &'static str, hostile: &'static Hostile) -> Drill {
    Drill { name, about, needs_ours: true, run: Run::Hostile(hostile) }
}

/// Who is drilled, and how hard.
#[derive(Debug)]
pub struct Stage<'s> {
    subject: &'s Subject,
    scale: u64,
}

impl<'s> Stage<'s> {
    /// `quick`: a fifth of the load, and fewer swaps and connections.
    #[must_use]
    pub fn new(subject: &'s Subject, quick: bool) -> Self {
        Self { subject, scale: if quick { 1 } else { 5 } }
    }

    pub(crate) fn subject(&self) -> &Subject {
        self.subject
    }

    /// How many times the load of a quick drill.
    pub(crate) fn scale(&self) -> u64 {
        self.scale
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Server> {
        Server::start(self.subject, arguments)
    }

    pub(crate) fn load(&self, server: &Server) -> Load {
        let mut load = Load::new(&server.address);
        self.subject.asked().clone_into(&mut load.path);
        load
    }
}

impl Drill {
    /// Whether it is about what hostile clients cost, which depends on the machine and the build.
    #[must_use]
    pub fn is_hostile(&self) -> bool {
        matches!(self.run, Run::Hostile(_))
    }

    /// The clients that can be there together with those of other drills.
    pub(crate) fn hostile(&self) -> Option<&'static Hostile> {
        match self.run {
            Run::Hostile(hostile) => Some(hostile),
            Scene(_) => None,
        }
    }

    /// Carries it out. An error is what kept it from being carried out; what it found is in the report.
    pub fn run(&self, stage: &Stage<'_>, report: &mut Report) -> Result<()> {
        match &self.run {
            Scene(run) => run(stage, report),
            Run::Hostile(hostile) => hostile::run(hostile, self.name, stage, report),
        }
    }
}

/// Hostile clients of these drills at the same time, and normal ones. Other drills have servers of their own, and are
/// left out.
pub fn together(drills: &[&Drill], time: Duration, stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    let hostile: Vec<_> =
        drills.iter().filter_map(|drill| drill.hostile().map(|hostile| (drill.name, hostile))).collect();
    hostile::together(&hostile, time, stage, report)
}

/// How an application is run.
#[derive(Clone, Copy, Debug)]
struct Model {
    name: &'static str,
    arguments: &'static [&'static str],
    /// How many of these connections one process may have in its hands.
    in_hand: u64,
}

const CONNECTIONS: u64 = 8;

const THREADS: Model =
    Model { name: "threads", arguments: &["--mpm", "thread", "--workers", "2"], in_hand: CONNECTIONS };
const PROCESSES: Model = Model { name: "processes", arguments: &["--mpm", "prefork", "--workers", "4"], in_hand: 1 };
const SINGLE: Model = Model {
    name: "a process for each request",
    arguments: &["--mpm", "prefork", "--set", "requests_per_worker=1"],
    in_hand: 1,
};

/// The next request after a death has so long.
const SOON: Duration = Duration::from_millis(50);

/// Reports how long something took that has a time limit. Only optimised builds, which users run, are judged by it:
/// tests run in debug builds, on machines that do other things too.
fn in_time(report: &mut Report, what: &str, most: Duration, took: Duration) {
    if cfg!(debug_assertions) {
        return report.note(what, crate::report::millis(took));
    }
    report.expect(what, format_args!("at most {} ms", most.as_millis()), crate::report::millis(took), took <= most);
}

/// How long it takes until a request is answered, on connections of its own.
fn until_answered(server: &Server, path: &str) -> Result<Duration> {
    let start = Instant::now();
    loop {
        match server.get(path) {
            Ok(_) => return Ok(start.elapsed()),
            Err(error) if start.elapsed() > Duration::from_secs(30) => return Err(error),
            // It was cut with the process that had it.
            Err(_) => {}
        }
    }
}

fn case(model: Model, rest: impl Display) -> String {
    format!("{}, {rest}", model.name)
}
