//! `skep bench URL`: one server under load.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::Failure;
use super::output::{Output, Progress};
use super::settings::{self, Settings};
use super::turns::Servers;
use crate::compare::{Measure, Rounds, Sample, Variant, sample};
use crate::load::{self, Bound, Figures, LoadError, Pace, Plan, RequestSpec, Search, Trust, Version, fetch};
use crate::number::{digits, time};
use crate::record::{Environment, Load, Record};
use crate::server::{self, Launch, Meter, Started, Watched};

/// How long a server may take until it answers. A first start makes its database.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A silence at the end that is worth a word.
const LONG: Duration = Duration::from_secs(1);

/// How near the highest rate is found.
const NEAR: f64 = 0.02;

/// How full the load's core may be before it is the load that is measured.
pub(super) const FULL: f64 = 0.95;

/// Load one server.
///
/// A closed loop, unless --rate, --ramp, --access-log or --find set another pace. Ctrl-C ends it and shows the figures
/// so far.
#[derive(Debug, Args)]
#[command(override_usage = "skep bench URL [OPTIONS]")]
pub(crate) struct Given {
    /// What is requested
    pub(super) url: String,
    #[command(flatten)]
    pub(super) settings: Settings,
    /// Search the highest rate at which this holds and nothing fails
    #[arg(long, value_name = "'p99<10ms'")]
    find: Option<Bound>,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    output: Output,
}

/// Which server is started or measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "The server")]
struct Server {
    /// Start the server first, with {port} and {dir} filled in, here and in the URL
    #[arg(long, value_name = "COMMAND", group = "watched")]
    start: Option<String>,
    /// Measure this process and all below it too
    #[arg(long, group = "watched", value_parser = value_parser!(u32).range(1..))]
    pid: Option<u32>,
    /// Measure the Skep server with this control socket too
    #[arg(long, value_name = "SOCKET", group = "watched")]
    control: Option<PathBuf>,
    #[command(flatten)]
    at: Servers,
}

pub(super) fn run(given: Given) -> Result<(), Failure> {
    given.output.check()?;
    let url = &given.url;
    let mut server = start(&given, url)?;
    let fill = |text: &str| server.as_ref().map_or_else(|| text.to_owned(), |server| server.fill(text));
    let target = given.settings.target(&fill(url), given.settings.reach.unix.as_deref().map(fill))?;
    let mut plan = given.settings.plan(target, 10)?;
    if let Some(server) = &mut server {
        until_it_answers(server, &plan)?;
    }
    let watched = watched(&given, server.as_ref())?;
    let what = given.server.start.clone().unwrap_or_else(|| plan.target.to_string());
    let mut record = Record::new("load", Environment::look());
    settings::note(&mut record, &plan);
    let machine = Load::begin();
    let mut rounds = Rounds::new("", [Variant::new(plan.target.to_string(), what)]);
    if let Some(bound) = given.find {
        let found = find(&mut plan, bound, &mut rounds, given.output.quiet)?;
        record.set(
            "pace",
            format!("the highest rate with p{} within {:?}: {}", bound.percent, bound.within, digits(found)),
        );
    }
    let outcome = measure(&plan, watched, given.output.quiet);
    let failure = add(&mut rounds, outcome)?;
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    rounds.notes.extend(left_out(&given.settings, &plan)?);
    record.experiments.push(rounds);
    given.output.write(&record)?;
    failure.map_or(Ok(()), |text| Err(Failure::Run(text)))
}

fn start(given: &Given, url: &str) -> Result<Option<Started>, Failure> {
    let Some(command) = &given.server.start else { return Ok(None) };
    let launch: Launch = command.parse().map_err(|error| Failure::Usage(format!("--start: {error}")))?;
    if launch.wants_port() && !url.contains("{port}") {
        return Err(Failure::Usage(format!(
            "--start has a {{port}} and the URL has none; it would be http://127.0.0.1:{{port}}/, and not {url}"
        )));
    }
    Ok(Some(Started::spawn(&launch, given.server.at.core)?))
}

pub(super) fn until_it_answers(server: &mut Started, plan: &Plan) -> Result<Duration, String> {
    let ask = || {
        let request = plan.requests.first().cloned().unwrap_or_else(|| RequestSpec::get("/"));
        let probe = if request.is_safe() { request } else { RequestSpec::get(plan.target.path()) };
        fetch(&plan.target, &probe, &plan.trust, plan.http, PATIENCE)
    };
    server.wait(PATIENCE, ask).map(|(_, took)| took)
}

fn watched(given: &Given, server: Option<&Started>) -> Result<Option<Watched>, Failure> {
    let process = match (given.server.pid, &given.server.control) {
        (Some(pid), _) => pid,
        (None, Some(socket)) => server::supervisor(socket)?,
        (None, None) => return Ok(server.map(Started::watched)),
    };
    Ok(Some(Watched::process(process).map_err(|error| Failure::Run(error.to_string()))?))
}

/// One load, with what the server took.
pub(super) fn measure(
    plan: &Plan,
    watched: Option<Watched>,
    quiet: bool,
) -> (Result<Figures, LoadError>, Option<Meter>) {
    let mut progress = Progress::new(watched.map(Meter::new), plan.time, quiet);
    let outcome = load::run_watched(plan, &mut progress);
    (outcome, progress.into_meter())
}

/// Adds what was measured. Why it is less than planned, if it is; an error, if it is nothing.
fn add(
    rounds: &mut Rounds,
    (outcome, meter): (Result<Figures, LoadError>, Option<Meter>),
) -> Result<Option<String>, Failure> {
    let (figures, failure) = match outcome {
        Ok(figures) => {
            let failure = no_answer(&figures);
            (figures, failure)
        }
        Err(error) => match error.so_far().filter(|figures| figures.answers > 0) {
            Some(figures) => (figures.clone(), Some(format!("{error}; above is what was measured until then"))),
            None => return Err(Failure::Run(error.to_string())),
        },
    };
    let meter = meter.as_ref();
    let sample = sample(&figures, meter.and_then(Meter::spent), meter.and_then(Meter::memory));
    rounds.notes.extend(notes(&sample, &figures));
    rounds.variants[0].add(&figures)?;
    rounds.push(vec![0], vec![sample]);
    Ok(failure)
}

/// Why no request had a good answer; `None` if one had.
pub(super) fn no_answer(figures: &Figures) -> Option<String> {
    let worded =
        || figures.errors.iter().map(|(kind, count, text)| format!("{count} x {kind}: {text}")).collect::<Vec<_>>();
    (figures.answers == 0).then(|| match worded().join("; ") {
        none if none.is_empty() => "there was no answer at all".to_owned(),
        errors => format!("there was no good answer: {errors}"),
    })
}

/// What a reader must know to believe the figures, or not to.
fn notes(sample: &Sample, figures: &Figures) -> Vec<String> {
    let mut notes = Vec::new();
    if figures.own_share() > FULL {
        notes.push(format!(
            "the load's core was {:.0} % full: the server may be faster than this",
            figures.own_share() * 100.0
        ));
    }
    if figures.unanswered > 0 {
        notes.push(format!(
            "{} requests were due and had no answer at the end: the rate is too high for the server",
            figures.unanswered
        ));
    }
    let silence = figures.silence();
    if silence >= LONG {
        notes.push(format!("nothing came in the last {:.1} s: the server stands still", silence.as_secs_f64()));
    }
    if sample.get(&Measure::Errors).is_some_and(|errors| *errors > 0.0) {
        notes.extend(figures.errors.iter().map(|(kind, count, text)| format!("{count} x {kind}: {text}")));
    }
    notes
}

fn left_out(settings: &Settings, plan: &Plan) -> Result<Vec<String>, Failure> {
    let (_, replay) = settings.requests(&plan.target)?;
    let replay = replay.filter(|replay| replay.left_out + replay.unread > 0);
    let note = |replay: load::Replay| {
        format!(
            "of the log, {} requests with other methods than GET and HEAD and {} lines that are no requests were left out",
            replay.left_out, replay.unread
        )
    };
    Ok(replay.map(note).into_iter().collect())
}

/// Tries rates, each for as long as one load is. The plan has the best one afterwards.
fn find(plan: &mut Plan, bound: Bound, rounds: &mut Rounds, quiet: bool) -> Result<f64, Failure> {
    let first = match plan.pace {
        Pace::Closed => 1000.0,
        Pace::Open { per_second } => per_second,
        _ => {
            return Err(Failure::Usage(
                "--find tries constant rates, from --rate on; --ramp and --access-log have their own".into(),
            ));
        }
    };
    let mut search = Search::new(first, NEAR);
    while let Some(rate) = search.next() {
        plan.pace = Pace::Open { per_second: rate };
        let (outcome, _) = measure(plan, None, quiet);
        let (held, why) = match outcome {
            Ok(figures) => {
                let took = figures.percentile(bound.percent);
                let bad = figures.errors.total() + figures.unanswered;
                let took_text = time(crate::number::nanos(took));
                (took <= bound.within && bad == 0, format!("p{} {took_text}, {bad} failed", bound.percent))
            }
            Err(error) if error.is_interrupted() || error.so_far().is_none_or(|figures| figures.answers == 0) => {
                return Err(Failure::Run(error.to_string()));
            }
            Err(error) => (false, error.to_string()),
        };
        let note = format!("{} a second: {why}: {}", digits(rate), if held { "holds" } else { "too much" });
        if !quiet {
            eprintln!("{note}");
        }
        rounds.notes.push(note);
        search.tried(rate, held);
    }
    let best = search
        .best()
        .ok_or_else(|| Failure::Run(format!("p{} is never within {:?}, at no rate", bound.percent, bound.within)))?;
    plan.pace = Pace::Open { per_second: best };
    Ok(best)
}

/// Makes one request, as a load would.
pub(super) fn ask_once(plan: &Plan, request: &RequestSpec) -> Result<load::FetchedResponse, String> {
    let (trust, version): (&Trust, Version) = (&plan.trust, plan.http);
    fetch(&plan.target, request, trust, version, plan.timeout)
}
