//! The disasters, one module for each kind.

mod broken;
mod crash;
mod flood;
mod hang;
mod killed;
mod leak;
mod restart;
mod swap;

use std::fmt::Display;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::load::Load;
use crate::report::Report;
use crate::server::Server;
use crate::subject::Subject;

/// A disaster that is re-enacted.
#[derive(Debug)]
pub struct Drill {
    /// How it is chosen.
    pub name: &'static str,
    /// What happens in it, in one line.
    pub about: &'static str,
    /// Only an application that fails when it is asked to can be put through it.
    pub needs_ours: bool,
    pub(crate) run: fn(&Stage<'_>, &mut Report) -> Result<()>,
}

/// All drills of executables, in the order in which they run.
pub const DRILLS: &[Drill] = &[
    Drill {
        name: "crash",
        about: "a handler ends its process, once in 1000 requests, with 32 connections",
        needs_ours: true,
        run: crash::run,
    },
    Drill { name: "kill", about: "kill -9 of one worker, and of all of them", needs_ours: false, run: killed::workers },
    Drill {
        name: "kill-supervisor",
        about: "kill -9 of the supervisor, and another start",
        needs_ours: false,
        run: killed::supervisor,
    },
    Drill { name: "swap", about: "twenty new versions under load", needs_ours: false, run: swap::run },
    Drill { name: "broken", about: "swaps to files that are no version", needs_ours: false, run: broken::run },
    Drill { name: "leak", about: "a handler forgets 1 MiB for each request", needs_ours: true, run: leak::run },
    Drill { name: "hang", about: "a handler keeps its thread for ever", needs_ours: true, run: hang::run },
    Drill {
        name: "flood",
        about: "10000 connections that say nothing or half a request, then TERM",
        needs_ours: false,
        run: flood::run,
    },
    Drill {
        name: "restart",
        about: "an application that dies at its start, again and again",
        needs_ours: true,
        run: restart::run,
    },
];

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
    /// Carries it out. An error is what kept it from being carried out; what it found is in the report.
    pub fn run(&self, stage: &Stage<'_>, report: &mut Report) -> Result<()> {
        (self.run)(stage, report)
    }
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

/// Reports how long something took that has a time limit. Only optimised builds, which users run, are judged by it: tests run in
/// debug builds, on machines that do other things too.
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
