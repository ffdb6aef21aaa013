//! `skep bench compare`: variants side by side, in rounds, each round in another order.

mod same;

use std::time::Duration;

use clap::Args;

use super::Failure;
use super::load::{FULL, measure, no_answer, until_it_answers};
use super::output::Output;
use super::settings::{self, Settings};
use super::turns::{self, Turns};
use crate::compare::{Gate, Interval, Measure, Outcome, Rounds, Sample, Variant, sample};
use crate::load::{Figures, Plan};
use crate::random::shuffled;
use crate::record::{Environment, Load, Record};
use crate::server::{Launch, Meter, Started};
use crate::{core, interrupt};

/// What each turn does before it counts: the server before it has left its data in the caches.
const SETTLE: Duration = Duration::from_millis(100);

/// Compare variants in interleaved rounds.
///
/// A command is started with {port} and {dir} filled in; leading NAME=value words are its environment. Servers are
/// started once and wait for their turns.
#[derive(Debug, Args)]
#[command(override_usage = "skep bench compare 'NAME=URL or command' ... [OPTIONS]")]
pub(crate) struct Given {
    /// URLs, or commands that start a server
    #[arg(value_name = "NAME=URL|COMMAND", required = true)]
    variants: Vec<String>,
    /// A condition, such as 'A>=0.97*B' or 'p99:A<=1.1*B'. Exit code 0: the rounds show that it holds; 1: that it does
    /// not; 3: neither
    #[arg(long = "gate", value_name = "'A>=0.97*B'")]
    gates: Vec<Gate>,
    /// Measure variants whose responses differ
    #[arg(long)]
    may_differ: bool,
    /// Do not run the first variant a second time
    #[arg(long)]
    no_control: bool,
    #[command(flatten)]
    turns: Turns,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    output: Output,
}

/// How long a turn is, in seconds.
const TURN: u64 = 3;

/// A variant that takes part.
struct Entrant {
    variant: Variant,
    plan: Plan,
    server: Option<Started>,
}

pub(super) fn run(mut given: Given) -> Result<(), Failure> {
    given.output.check()?;
    let parts = named(&given.variants, !given.no_control)?;
    let names: Vec<&str> = parts.iter().map(|(name, ..)| name.as_str()).collect();
    given.gates.iter().try_for_each(|gate| gate.check(&names)).map_err(Failure::Usage)?;
    let (server_core, load_cores) = cores(&given)?;
    given.settings.load_cores = load_cores;
    let mut entrants = Vec::new();
    for (name, what, again) in &parts {
        entrants.push(enter(name, what, again.clone(), &given, server_core)?);
    }
    let mut rounds = Rounds::new("", []);
    rounds.notes.extend(same::check(&mut entrants, given.may_differ)?);
    rounds.variants = entrants.iter().map(|entrant| entrant.variant.clone()).collect();
    let mut record = Record::new("compare", Environment::look());
    settings::note(&mut record, &entrants[0].plan);
    record.set("rounds", given.turns.rounds);
    record.set("server_core", server_core.map_or("any".to_owned(), |core| core.to_string()));
    let machine = Load::begin();
    let stopped = play(&mut entrants, &mut rounds, &given);
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    drop(entrants);
    if rounds.rounds.is_empty() {
        return stopped;
    }
    rounds.notes.extend(doubts(&rounds, given.output.confidence()));
    let verdicts = verdicts(&given, &rounds);
    rounds.notes.extend(verdicts.iter().map(|(text, _)| text.clone()));
    record.experiments.push(rounds);
    given.output.write(&record)?;
    stopped?;
    match verdicts.iter().map(|(_, outcome)| *outcome).max() {
        Some(Outcome::Broken) => Err(Failure::Broken),
        Some(Outcome::Open) => Err(Failure::Undecided),
        Some(Outcome::Holds) | None => Ok(()),
    }
}

/// Name, what it is, and whose second part it plays.
type Named = (String, String, Option<String>);

fn named(variants: &[String], control: bool) -> Result<Vec<Named>, Failure> {
    let named = turns::named(variants, "'NAME=http://...' or 'NAME=./server --port {port}'")?;
    let mut named: Vec<Named> = named.into_iter().map(|(name, what)| (name, what, None)).collect();
    if control {
        let (name, what, _) = named[0].clone();
        named.push((format!("{name} (again)"), what, Some(name)));
    }
    if named.len() < 2 {
        return Err(Failure::Usage("one variant without its control has nothing beside it".into()));
    }
    Ok(named)
}

/// The servers' core and the load's: the first that are ours, unless somebody says otherwise.
fn cores(given: &Given) -> Result<(Option<usize>, Vec<usize>), Failure> {
    let mut load = given.settings.load_cores.clone();
    let server = given.turns.core(&load);
    let ours = core::ours();
    if load.is_empty() && given.turns.pins() && ours.len() > 1 {
        load = ours.into_iter().filter(|core| Some(*core) != server).take(given.settings.threads).collect();
    }
    if server.is_some_and(|server| load.contains(&server)) {
        return Err(Failure::Usage("server and load are bound to the same core".into()));
    }
    Ok((server, load))
}

fn enter(
    name: &str,
    what: &str,
    again: Option<String>,
    given: &Given,
    core: Option<usize>,
) -> Result<Entrant, Failure> {
    let variant = Variant { again, ..Variant::new(name, what) };
    if what.starts_with("http://") || what.starts_with("https://") {
        let plan = given.settings.plan(given.settings.target(what, None)?, TURN)?;
        return Ok(Entrant { variant, plan, server: None });
    }
    let launch: Launch = what.parse().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    if given.settings.reach.unix.is_none() {
        given.turns.fits(name, &launch)?;
    }
    let mut server = Started::spawn(&launch, core).map_err(|error| format!("{name}: {error}"))?;
    let socket = given.settings.reach.unix.as_deref().map(|socket| server.fill(socket));
    let plan = given.settings.plan(given.settings.target(&server.fill(&given.turns.url), socket)?, TURN)?;
    until_it_answers(&mut server, &plan).map_err(|error| format!("{name}: {error}"))?;
    Ok(Entrant { variant, plan, server: Some(server) })
}

/// All rounds. What was measured until something went wrong stays in `rounds`.
fn play(entrants: &mut [Entrant], rounds: &mut Rounds, given: &Given) -> Result<(), Failure> {
    let quiet = given.output.quiet;
    let say = |text: &str| {
        if !quiet {
            eprintln!("{text}");
        }
    };
    for entrant in entrants.iter_mut().filter(|entrant| !entrant.plan.warm_up.is_zero()) {
        let time = entrant.plan.warm_up;
        let warm_up = Plan { time, warm_up: Duration::ZERO, count: None, ..entrant.plan.clone() };
        turn(entrant, &warm_up, quiet)?;
        entrant.plan.warm_up = SETTLE.min(time);
    }
    let mut random = given.turns.random();
    for number in 1..=given.turns.rounds {
        let order = shuffled(&mut random, entrants.len());
        let mut samples = vec![Sample::new(); entrants.len()];
        for &place in &order {
            if interrupt::is_asked() {
                return Err(Failure::Run(format!("ended by a signal in round {number} of {}", given.turns.rounds)));
            }
            let plan = entrants[place].plan.clone();
            let (sample, figures) = turn(&mut entrants[place], &plan, quiet)?;
            rounds.variants[place].add(&figures)?;
            samples[place] = sample;
        }
        let shown = order.iter().map(|place| {
            let rate = samples[*place].get(&Measure::Rate).copied().unwrap_or_default();
            format!("{} {}", entrants[*place].variant.name, Measure::Rate.show(rate))
        });
        say(&format!("round {number} of {}: {}", given.turns.rounds, shown.collect::<Vec<_>>().join(", ")));
        rounds.push(order, samples);
    }
    Ok(())
}

fn turn(entrant: &mut Entrant, plan: &Plan, quiet: bool) -> Result<(Sample, Figures), Failure> {
    let watched = entrant.server.as_ref().map(Started::watched);
    let (outcome, meter) = measure(plan, watched, quiet);
    let figures = outcome.map_err(|error| lost(entrant, &error.to_string()))?;
    if let Some(why) = no_answer(&figures) {
        return Err(lost(entrant, &why));
    }
    if let Some(server) = &entrant.server {
        server.forget_output();
    }
    let meter = meter.as_ref();
    Ok((sample(&figures, meter.and_then(Meter::spent), meter.and_then(Meter::memory)), figures))
}

fn lost(entrant: &mut Entrant, error: &str) -> Failure {
    let name = entrant.variant.name.clone();
    let text = match &mut entrant.server {
        None => format!("{name}: {error}"),
        Some(server) => {
            let what = if server.runs() { "" } else { " died" };
            format!("{name}{what}: {error}. It wrote:\n{}", server.written())
        }
    };
    Failure::Run(text)
}

/// Why a reader may doubt the figures.
fn doubts(rounds: &Rounds, confidence: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    if let Some((name, again)) = rounds.control() {
        let noise = rounds.interval(again, name, Measure::Rate, confidence);
        if let Some(noise) = noise.filter(Interval::has_bounds) {
            let floor = (noise.ratio - 1.0).abs().max(noise.high - 1.0).max(1.0 - noise.low) * 100.0;
            doubts.push(format!(
                "noise floor: {name} against itself lies within {floor:.1} %; a difference of that size shows nothing"
            ));
            if noise.shows_a_difference() {
                doubts.push(format!("{name} differs from itself: something disturbed this run, and its other differences are doubtful too"));
            }
        }
    }
    for (place, variant) in rounds.variants.iter().enumerate() {
        if rounds.median(place, Measure::LoadCore).is_some_and(|share| share > FULL) {
            doubts.push(format!(
                "{}: the load's core was full; it may be faster than this. Compare the CPU per request",
                variant.name
            ));
        }
        let sum = |measure| rounds.figures(place, measure).into_iter().flatten().sum::<f64>();
        let (errors, unanswered) = (sum(Measure::Errors), sum(Measure::Unanswered));
        if errors + unanswered > 0.0 {
            doubts.push(format!("{}: {errors} errors, {unanswered} unanswered", variant.name));
        }
    }
    doubts
}

/// What came of each gate.
fn verdicts(given: &Given, rounds: &Rounds) -> Vec<(String, Outcome)> {
    let confidence = given.output.confidence();
    let verdict = |gate: &Gate| {
        let Some((outcome, interval)) = gate.outcome(rounds, confidence) else {
            return (format!("gate {gate}: BROKEN, it was not measured"), Outcome::Broken);
        };
        let word = match outcome {
            Outcome::Holds => "holds".to_owned(),
            Outcome::Broken => "BROKEN".to_owned(),
            Outcome::Open => format!("UNDECIDED, {}", more(gate, interval, rounds.rounds.len())),
        };
        let Interval { ratio, low, high } = interval;
        (format!("gate {gate}: {word} (ratio {ratio:.3}, between {low:.3} and {high:.3})"), outcome)
    };
    given.gates.iter().map(verdict).collect()
}

/// What would decide a gate that is open.
fn more(gate: &Gate, interval: Interval, rounds: usize) -> String {
    match gate.rounds_to_decide(interval, rounds) {
        Some(enough) => format!("about --rounds {enough} would decide it, if the ratio is what it seems"),
        None => "the ratio is too near the bound for any number of rounds; longer turns (--time) are less noisy".into(),
    }
}
