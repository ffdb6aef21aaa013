//! Load on one server, from the load's core, for a given time: the client of `skep bench`.

use std::time::Duration;

use skep_bench::load::{self, Figures, Plan, RequestSpec, Target, Trust, Version};

use crate::Result;
use crate::experiment::Load;
use crate::measure::{Measure, Sample, float};

pub(crate) use skep_bench::load::Answer;

/// The longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Processes that are added to those that serve.
pub(crate) const MORE: u32 = 8;

/// New files of a round.
pub(crate) const SWAPS: usize = 5;

/// Deaths of a round.
pub(crate) const DEATHS: usize = 10;

/// Loads a server, and says what came back. A server that fails under its load has a figure too: what came until then, and an error.
pub(crate) fn run(load: Load, port: u16, path: &str, time: Duration) -> Result<Loaded> {
    match load::run(&plan(load, port, path, time)?) {
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
    let mut plan = Plan::of(target(port, path)?);
    (plan.warm_up, plan.time) = (Duration::ZERO, time);
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } => plan.connections = connections.into(),
        Load::Fresh { connections } | Load::Processes { connections } => {
            (plan.connections, plan.reuse) = (connections.into(), false);
        }
        Load::Deaths { .. } | Load::Swaps | Load::Held { .. } => (plan.connections, plan.reuse) = (1, false),
        Load::Batches { connections, depth } => {
            (plan.connections, plan.depth) = (connections.into(), depth.into());
        }
        Load::Start | Load::Loop | Load::Alone => return Err("this experiment has no load".into()),
    }
    Ok(plan)
}

fn target(port: u16, path: &str) -> Result<Target> {
    Ok(format!("http://127.0.0.1:{port}{path}").parse()?)
}

/// Asks once, over a connection of its own.
pub(crate) fn ask(port: u16, path: &str) -> Result<Answer> {
    Ok(load::fetch(&target(port, path)?, &RequestSpec::get(path), &Trust::System, Version::Http1, PATIENCE)?)
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
pub(crate) fn shown(load: Load) -> String {
    match load {
        Load::KeepAlive { connections } | Load::Memory { connections } => {
            format!("skep-bench, closed loop: {connections} connections")
        }
        Load::Fresh { connections } => {
            format!("skep-bench, closed loop: a connection for each request, {connections} at a time")
        }
        Load::Batches { connections, depth } => {
            format!("skep-bench, closed loop: {connections} connections, each sends {depth} at once")
        }
        Load::Processes { connections } => format!(
            "skep-bench, closed loop: a connection for each request, {connections} at a time; then {MORE} more processes (USR2), and the same again"
        ),
        Load::Deaths { whose } => {
            format!("kill -9 of {}, {DEATHS} times; then the runner tries until it is answered", whose.name())
        }
        Load::Held { requests } => format!("{requests} requests that wait for the rest of their bodies"),
        Load::Swaps => {
            format!("the component's file is written anew {SWAPS} times; the runner tries until the new answer comes")
        }
        Load::Start => "the runner tries every 100 us until it is answered".into(),
        Load::Loop | Load::Alone => "none: the program works alone".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_planned_as_the_experiment_says() {
        let plan = plan(Load::Fresh { connections: 20 }, 8800, "/x", Duration::from_secs(2)).unwrap();
        assert_eq!((plan.connections, plan.depth, plan.reuse, plan.target.path()), (20, 1, false, "/x"));
        let plan = super::plan(Load::Batches { connections: 32, depth: 16 }, 8800, "/", Duration::ZERO).unwrap();
        assert_eq!((plan.connections, plan.depth, plan.reuse), (32, 16, true));
        assert!(super::plan(Load::Start, 8800, "/", Duration::ZERO).is_err());
    }
}
