//! Load on one server, from the load's core, for a given time.

mod batches;
mod fresh;
mod wrk;

use std::time::Duration;

use crate::Result;
use crate::experiment::Load;
use crate::measure::{Measure, Sample};

/// Loads a server, and says what came back: rate, errors, latency. The count is that of the answers.
pub(crate) fn run(load: Load, port: u16, path: &str, time: Duration) -> Result<Loaded> {
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } => wrk::run(port, path, connections, time),
        Load::Batches { connections, depth } => batches::run(port, path, connections, depth, time),
        Load::New { connections } | Load::Processes { connections } => fresh::run(port, path, connections, time),
        Load::Deaths { .. } => fresh::run(port, path, 1, time),
        Load::Start | Load::Loop => Err("this experiment has no load".into()),
    }
}

/// What a load generator saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Loaded {
    /// Good answers.
    pub(crate) requests: u64,
    pub(crate) per_second: f64,
    pub(crate) errors: u64,
    /// Microseconds.
    pub(crate) p50: f64,
    /// Microseconds.
    pub(crate) p99: f64,
}

impl Loaded {
    /// The figures of a sample that the load knows.
    pub(crate) fn sample(self) -> Sample {
        Sample::from([
            (Measure::Rate, self.per_second),
            (Measure::Errors, crate::proc::float(self.errors)),
            (Measure::P50, self.p50),
            (Measure::P99, self.p99),
        ])
    }
}

/// The command as a record shows it.
pub(crate) fn shown(load: Load) -> String {
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } => {
            format!("wrk -t1 -c{connections} -dSECONDSs --latency http://127.0.0.1:PORT/PATH")
        }
        Load::Batches { connections, depth } => {
            format!("the runner's own client: {connections} connections, each sends {depth} at once")
        }
        Load::New { connections } => {
            format!("the runner's own client: {connections} at a time, each request over a connection of its own")
        }
        Load::Processes { connections } => {
            format!("the same client, {connections} at a time; then 8 more processes (USR2), and the same again")
        }
        Load::Deaths { whose } => {
            format!("kill -9 of {}, 10 times; then one request until it is answered", whose.name())
        }
        Load::Start => "the runner tries every 100 us until it is answered".into(),
        Load::Loop => "none: the program works alone".into(),
    }
}
