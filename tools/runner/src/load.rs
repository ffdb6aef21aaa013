//! Load on one server, from the load's core, for a given time: the client of `skep bench`.

use std::num::NonZeroUsize;
use std::time::Duration;

use skep_bench::load::{self, Figures, Plan, RequestSpec, Silent, Target, Trust, Version, Watch};

use crate::Result;
use crate::experiment::{KILOBYTE, Load, Request, Variant};
use crate::measure::{Measure, Sample, float};

pub(crate) use skep_bench::load::FetchedResponse;

/// The longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes of a chunk.
const CHUNK: NonZeroUsize = NonZeroUsize::new(256).expect("it is not zero");

/// What comes before a load that counts: a request of each connection, and its answer.
const FIRST: Duration = Duration::from_millis(10);

/// Processes that are added to those that serve.
pub(crate) const MORE: u32 = 8;

/// New files of a round.
pub(crate) const SWAPS: usize = 3;

/// Deaths of a round.
pub(crate) const DEATHS: usize = 10;

/// Loads a server, and says what came back.
pub(crate) fn run(load: Load, port: u16, path: &str, time: Duration) -> Result<Loaded> {
    outcome(&plan(load, port, path, time)?, &mut Silent)
}

/// The same, for what a server takes: it is read when each connection has had its first answer, and again when all that
/// was asked for is answered, so that each answer has its CPU, and no more. A busy load never sleeps.
pub(crate) fn measured(
    load: Load,
    busy: bool,
    (port, path): (u16, &str),
    time: Duration,
    watch: &mut dyn Watch,
) -> Result<Loaded> {
    outcome(&Plan { warm_up: FIRST, drain: true, busy, ..plan(load, port, path, time)? }, watch)
}

/// A server that fails under its load has a figure too: what came until then, and an error.
fn outcome(plan: &Plan, watch: &mut dyn Watch) -> Result<Loaded> {
    match load::run_watched(plan, watch) {
        Ok(figures) => Ok(Loaded { figures, failed: false }),
        Err(error) if error.is_interrupted() => Err(error.into()),
        Err(error) => {
            eprint!(" ({error})");
            let figures = error.so_far().cloned().unwrap_or_else(Figures::empty);
            Ok(Loaded { figures, failed: true })
        }
    }
}

fn plan(load: Load, port: u16, path: &str, time: Duration) -> Result<Plan> {
    let mut plan = Plan::of(target(load.is_tls(), port, path)?);
    (plan.warm_up, plan.time, plan.trust) = (Duration::ZERO, time, Trust::All);
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } | Load::Tls { connections } => {
            plan.connections = connections.into();
        }
        Load::Fresh { connections } | Load::Processes { connections } => {
            (plan.connections, plan.reuse) = (connections.into(), false);
        }
        Load::Deaths { .. } | Load::Swaps { .. } | Load::Held { .. } => (plan.connections, plan.reuse) = (1, false),
        Load::Batches { connections, depth } => {
            (plan.connections, plan.depth) = (connections.into(), depth.into());
        }
        Load::Requests { connections, request } => {
            (plan.connections, plan.requests) = (connections.into(), vec![spec(request, port, path)?]);
        }
        Load::Streams { connections, streams } => {
            (plan.http, plan.connections, plan.depth) = (Version::Http2, connections.into(), streams.into());
        }
        Load::Idle { connections } => (plan.connections, plan.count) = (connections.into(), Some(connections.into())),
        Load::Start | Load::Loop | Load::Alone => return Err("this experiment has no load".into()),
    }
    Ok(plan)
}

fn target(tls: bool, port: u16, path: &str) -> Result<Target> {
    let scheme = if tls { "https" } else { "http" };
    Ok(format!("{scheme}://127.0.0.1:{port}{path}").parse()?)
}

/// The request with what it has besides its path. The cookie is asked for first.
fn spec(request: Request, port: u16, path: &str) -> Result<RequestSpec> {
    let spec = RequestSpec::get(path);
    Ok(match request {
        Request::Chunked => spec.method("POST")?.body(KILOBYTE).chunked(CHUNK),
        Request::Form => spec.method("POST")?.header("content-type", "application/x-www-form-urlencoded")?.body(form()),
        Request::Cookie | Request::Entered => {
            let first = ask(port, if request == Request::Entered { "/enter" } else { path })?;
            let cookie = first.field("set-cookie").and_then(|field| field.split(';').next());
            spec.header("cookie", cookie.ok_or("the first response sets no cookie")?)?
        }
        Request::Gzip => spec.header("accept-encoding", "gzip")?,
        Request::Zstd => spec.header("accept-encoding", "zstd, gzip")?,
    })
}

/// A form of a kilobyte.
fn form() -> String {
    format!("name=Anna+Bee&email=anna%40example.org&text={}so+it+was.", "so+it+was+".repeat(97))
}

/// Asks once, over a connection of its own.
pub(crate) fn ask(port: u16, path: &str) -> Result<FetchedResponse> {
    fetch(&target(false, port, path)?, &RequestSpec::get(path), Version::Http1)
}

/// Asks a server that may not be there yet.
pub(crate) fn ask_first(variant: &Variant, port: u16) -> Result<FetchedResponse> {
    let target = target(variant.program.speaks_tls(), port, variant.path)?;
    fetch(&target, &RequestSpec::get(variant.path), Version::Http1)
}

/// Asks once as this load does: a request that is held is one with a body.
pub(crate) fn ask_as(load: Load, port: u16, path: &str) -> Result<FetchedResponse> {
    let spec = match load {
        Load::Held { .. } => {
            RequestSpec::get(path).method("POST")?.header("origin", &format!("http://127.0.0.1:{port}"))?.body("whole")
        }
        Load::Requests { request, .. } => spec(request, port, path)?,
        _ => RequestSpec::get(path),
    };
    let version = if let Load::Streams { .. } = load { Version::Http2 } else { Version::Http1 };
    fetch(&target(load.is_tls(), port, path)?, &spec, version)
}

/// The certificate of those that speak TLS was made for this run, and nobody has signed it.
fn fetch(target: &Target, spec: &RequestSpec, version: Version) -> Result<FetchedResponse> {
    Ok(load::fetch(target, spec, &Trust::All, version, PATIENCE)?)
}

impl Load {
    /// Whether its responses are to be compressed.
    pub(crate) fn wants_compression(self) -> bool {
        matches!(self, Self::Requests { request: Request::Gzip | Request::Zstd, .. })
    }

    fn is_tls(self) -> bool {
        matches!(self, Self::Tls { .. } | Self::Streams { .. })
    }
}

/// What a load generator saw.
pub(crate) struct Loaded {
    figures: Figures,
    /// It ended before its time.
    failed: bool,
}

impl Loaded {
    /// Good answers.
    pub(crate) fn requests(&self) -> u64 {
        self.figures.answers
    }

    /// Microseconds that the load itself took of its core.
    pub(crate) fn own_cpu(&self) -> f64 {
        self.figures.own_cpu.as_secs_f64() * 1e6
    }

    /// Those of them in which there was something to do.
    pub(crate) fn work(&self) -> f64 {
        self.own_cpu() - self.figures.idle.as_secs_f64() * 1e6
    }

    /// The figures of a sample that the load knows.
    pub(crate) fn sample(&self) -> Sample {
        let Self { figures, failed } = self;
        let micros = |percent: f64| figures.percentile(percent).as_secs_f64() * 1e6;
        let errors = figures.errors.total().max(u64::from(*failed));
        let mut sample = Sample::from([(Measure::Rate, figures.rate()), (Measure::Errors, float(errors))]);
        if figures.answers > 0 {
            sample.extend([
                (Measure::P50, micros(50.0)),
                (Measure::P99, micros(99.0)),
                (Measure::P999, micros(99.9)),
                (Measure::Bytes, float(figures.bytes) / float(figures.answers)),
            ]);
        }
        sample
    }
}

/// The load as a record shows it.
pub(crate) fn shown(load: Load, busy: bool) -> String {
    let generator = if busy { "skep-bench, closed loop that never sleeps" } else { "skep-bench, closed loop" };
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } => {
            format!("{generator}: {connections} connections")
        }
        Load::Fresh { connections } => {
            format!("{generator}: a connection for each request, {connections} at a time")
        }
        Load::Batches { connections, depth } => {
            format!("{generator}: {connections} connections, each sends {depth} at once")
        }
        Load::Requests { connections, request } => {
            format!("{generator}: {connections} connections, each request with {}", request.name())
        }
        Load::Tls { connections } => format!("{generator}: {connections} connections over TLS"),
        Load::Streams { connections, streams } => {
            format!("{generator}: {connections} connections of HTTP/2 over TLS, {streams} streams each")
        }
        Load::Idle { connections } => format!("{connections} connections, a request on each; then nothing"),
        Load::Processes { connections } => format!(
            "{generator}: a connection for each request, {connections} at a time; then {MORE} more processes (USR2), and the same again"
        ),
        Load::Deaths { whose } => {
            format!("kill -9 of {}, {DEATHS} times; then the runner tries until it is answered", whose.name())
        }
        Load::Held { requests } => format!("{requests} requests that wait for the rest of their bodies"),
        Load::Swaps { new } => {
            format!("{SWAPS} new files {}; the runner tries until the new answer comes", new.name())
        }
        Load::Start => "the runner tries every 100 us until it is answered".into(),
        Load::Loop | Load::Alone => "none: the program works alone".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::New;

    #[test]
    fn a_load_is_planned_as_the_experiment_says() {
        let plan = plan(Load::Fresh { connections: 20 }, 8800, "/x", Duration::from_secs(2)).unwrap();
        assert_eq!((plan.connections, plan.depth, plan.reuse, plan.target.path()), (20, 1, false, "/x"));
        let plan = super::plan(Load::Batches { connections: 32, depth: 16 }, 8800, "/", Duration::ZERO).unwrap();
        assert_eq!((plan.connections, plan.depth, plan.reuse), (32, 16, true));
        let plan = super::plan(Load::Streams { connections: 1, streams: 100 }, 8800, "/", Duration::ZERO).unwrap();
        assert_eq!((plan.http, plan.connections, plan.depth), (Version::Http2, 1, 100));
        assert_eq!(plan.target.to_string(), "https://127.0.0.1:8800/");
        assert!(super::plan(Load::Start, 8800, "/", Duration::ZERO).is_err());
    }

    #[test]
    fn a_form_has_a_kilobyte() {
        assert_eq!(form().len(), 1024);
    }

    #[test]
    fn a_record_says_whether_the_load_slept() {
        let load = Load::KeepAlive { connections: 32 };
        assert_eq!(shown(load, true), "skep-bench, closed loop that never sleeps: 32 connections");
        assert_eq!(shown(load, false), "skep-bench, closed loop: 32 connections");
        let load = Load::Swaps { new: New::Compiled };
        assert_eq!(shown(load, true), shown(load, false));
    }
}
