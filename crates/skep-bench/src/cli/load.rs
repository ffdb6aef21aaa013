//! `skep bench URL`: one server under load.

use std::path::PathBuf;
use std::time::Duration;

use super::flags::{self, Flag, Section, number};
use super::output::{self, HasOutput, Output};
use super::settings::{self, HasSettings, Settings};
use super::turns::{self, HasTurns, Turns};
use super::{Failure, output::Progress};
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

#[derive(Default)]
struct Given {
    settings: Settings,
    turns: Turns,
    start: Option<String>,
    pid: Option<u32>,
    control: Option<PathBuf>,
}

impl HasTurns for Given {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

impl HasSettings for Given {
    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl HasOutput for Given {
    fn output(&mut self) -> &mut Output {
        &mut self.settings.output
    }
}

fn sections() -> [Section<Given>; 3] {
    [
        Section::new("The load", settings::flags().into_iter().chain([find_flag()])),
        Section::new("The server", server_flags().into_iter().chain([turns::server_core()])),
        Section::new("Results", output::flags()),
    ]
}

fn find_flag() -> Flag<Given> {
    Flag {
        name: "find",
        short: None,
        takes: "'p99<10ms'",
        help: "the highest rate at which that holds and nothing fails",
        set: |to, text| {
            to.settings.find = Some(text.parse()?);
            Ok(())
        },
    }
}

fn server_flags() -> [Flag<Given>; 3] {
    [
        Flag {
            name: "start",
            short: None,
            takes: "COMMAND",
            help: "starts the server first, with {port} and {dir} filled in, here and in the URL",
            set: |to, text| {
                to.start = Some(text.to_owned());
                Ok(())
            },
        },
        Flag {
            name: "pid",
            short: None,
            takes: "PID",
            help: "what this process and all below it take is measured too",
            set: |to, text| {
                to.pid = Some(number(text, 1, u32::MAX)?);
                Ok(())
            },
        },
        Flag {
            name: "control",
            short: None,
            takes: "SOCKET",
            help: "the same, of the Skep server with this control socket",
            set: |to, text| {
                to.control = Some(text.into());
                Ok(())
            },
        },
    ]
}

pub(super) fn help() -> String {
    let usage = "skep bench URL [FLAG...]\n\n\
        A closed loop, unless --rate, --ramp, --access-log or --find say otherwise. Ctrl-C ends it and shows what there is.";
    flags::help(usage, &sections())
}

pub(super) fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    let urls = flags::read(&sections(), &mut given, arguments)?;
    given.settings.output.check()?;
    let [url] = urls.as_slice() else {
        return Err(Failure::Usage(match urls.len() {
            0 => "a URL is missing".into(),
            _ => format!("one URL is loaded, and {} were named; `skep bench compare` takes several", urls.len()),
        }));
    };
    let mut server = start(&given, url)?;
    let fill = |text: &str| server.as_ref().map_or_else(|| text.to_owned(), |server| server.fill(text));
    let target = given.settings.target(&fill(url), given.settings.unix.as_deref().map(fill))?;
    let mut plan = given.settings.plan(target, 10)?;
    if let Some(server) = &mut server {
        until_it_answers(server, &plan)?;
    }
    let watched = watched(&given, server.as_ref())?;
    let what = given.start.clone().unwrap_or_else(|| plan.target.to_string());
    let mut record = Record::new("load", Environment::look());
    settings::note(&mut record, &plan);
    let machine = Load::begin();
    let mut rounds = Rounds::new("", [Variant::new(plan.target.to_string(), what)]);
    if let Some(bound) = given.settings.find {
        let found = find(&mut plan, bound, &mut rounds, given.settings.output.quiet)?;
        record.set(
            "pace",
            format!("the highest rate with p{} within {:?}: {}", bound.percent, bound.within, digits(found)),
        );
    }
    let outcome = measure(&plan, watched, given.settings.output.quiet);
    let failure = add(&mut rounds, outcome)?;
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    rounds.notes.extend(left_out(&given.settings, &plan)?);
    record.experiments.push(rounds);
    given.settings.output.write(&record)?;
    failure.map_or(Ok(()), |text| Err(Failure::Run(text)))
}

fn start(given: &Given, url: &str) -> Result<Option<Started>, Failure> {
    let Some(command) = &given.start else { return Ok(None) };
    let launch: Launch = command.parse().map_err(|error| Failure::Usage(format!("--start: {error}")))?;
    if launch.wants_port() && !url.contains("{port}") {
        return Err(Failure::Usage(format!(
            "--start has a {{port}} and the URL has none; it would be http://127.0.0.1:{{port}}/, and not {url}"
        )));
    }
    Ok(Some(Started::spawn(&launch, given.turns.server_core)?))
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
    let process = match (given.pid, &given.control, server) {
        (None, None, server) => return Ok(server.map(Started::watched)),
        (Some(pid), None, None) => pid,
        (None, Some(socket), None) => server::supervisor(socket)?,
        _ => {
            return Err(Failure::Usage(
                "--start, --pid and --control each say which server is watched; one of them can".into(),
            ));
        }
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

/// Why there was not one good answer, if there was none.
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

/// For whoever asks once, as a load would.
pub(super) fn ask_once(plan: &Plan, request: &RequestSpec) -> Result<load::Answer, String> {
    let (trust, version): (&Trust, Version) = (&plan.trust, plan.http);
    fetch(&plan.target, request, trust, version, plan.timeout)
}
