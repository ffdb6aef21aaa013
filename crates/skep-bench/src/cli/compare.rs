//! `skep bench compare`: variants side by side, in rounds, each round in another order.

mod same;

use std::time::Duration;

use super::Failure;
use super::flags::{self, Flag, number};
use super::load::{FULL, measure, no_answer, until_it_answers};
use super::output::{self, HasOutput, Output};
use super::settings::{self, HasSettings, Settings};
use crate::compare::{Gate, Measure, Rounds, Sample, Variant, curve, sample};
use crate::load::Plan;
use crate::random::Random;
use crate::record::{Environment, Load, Record};
use crate::server::{Launch, Meter, Started};
use crate::{core, interrupt};

/// What each turn does before it counts: the server before it has left its data in the caches.
const SETTLE: Duration = Duration::from_millis(100);

struct Given {
    settings: Settings,
    rounds: usize,
    url: String,
    server_core: Option<usize>,
    pins: bool,
    control: bool,
    may_differ: bool,
    gates: Vec<Gate>,
    seed: Option<u64>,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            rounds: 10,
            url: "http://127.0.0.1:{port}/".into(),
            server_core: None,
            pins: true,
            control: true,
            may_differ: false,
            gates: Vec::new(),
            seed: None,
        }
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

fn own_flags() -> Vec<Flag<Given>> {
    what().into_iter().chain(how()).collect()
}

fn what() -> Vec<Flag<Given>> {
    vec![
        Flag {
            name: "rounds",
            short: Some('R'),
            takes: "N",
            help: "in each, every variant has one turn (10; bounds from 5 on)",
            set: |to, text| {
                to.rounds = number(text, 1, 10_000)?;
                Ok(())
            },
        },
        Flag {
            name: "url",
            short: None,
            takes: "URL",
            help: "what is asked of a command (http://127.0.0.1:{port}/)",
            set: |to, text| {
                text.parse::<crate::load::Target>()
                    .or_else(|error| text.replace("{port}", "1").parse().map_err(|_| error))?;
                text.clone_into(&mut to.url);
                Ok(())
            },
        },
        Flag {
            name: "gate",
            short: None,
            takes: "'A>=0.97*B'",
            help: "exit code 1 if the rounds show that it does not hold; 'p99:A<=1.1*B'",
            set: |to, text| {
                to.gates.push(text.parse()?);
                Ok(())
            },
        },
        Flag {
            name: "may-differ",
            short: None,
            takes: "",
            help: "measures variants that do not give the same answer",
            set: |to, _| {
                to.may_differ = true;
                Ok(())
            },
        },
    ]
}

fn how() -> Vec<Flag<Given>> {
    vec![
        Flag {
            name: "server-core",
            short: None,
            takes: "CORE",
            help: "the core of the servers that are started",
            set: |to, text| {
                to.server_core = Some(number(text, 0, 1 << 16)?);
                Ok(())
            },
        },
        Flag {
            name: "no-pin",
            short: None,
            takes: "",
            help: "servers and load run on any core",
            set: |to, _| {
                to.pins = false;
                Ok(())
            },
        },
        Flag {
            name: "no-control",
            short: None,
            takes: "",
            help: "the first variant does not take part a second time",
            set: |to, _| {
                to.control = false;
                Ok(())
            },
        },
        Flag {
            name: "seed",
            short: None,
            takes: "N",
            help: "the same orders again",
            set: |to, text| {
                to.seed = Some(number(text, 0, u64::MAX)?);
                Ok(())
            },
        },
    ]
}

pub(super) fn help() -> String {
    format!(
        "usage: skep bench compare 'NAME=URL or command' ... [FLAG...]\n\n\
         A command is started with {{port}} and {{dir}} filled in; NAME=value words at its beginning are its environment.\n\
         Servers are started once and wait for their turns. Each turn takes --time (3s).\n\n{}\nEach load:\n{}\nResults:\n{}",
        flags::help(&own_flags()),
        flags::help(&settings::flags::<Given>()),
        flags::help(&output::flags::<Given>()),
    )
}

/// A variant that takes part.
struct Entrant {
    variant: Variant,
    plan: Plan,
    server: Option<Started>,
}

pub(super) fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    let tables = [settings::flags(), own_flags(), output::flags()];
    let variants = flags::read(&tables.each_ref().map(Vec::as_slice), &mut given, arguments)?;
    let parts = named(&variants, given.control)?;
    let names: Vec<&str> = parts.iter().map(|(name, ..)| name.as_str()).collect();
    given.gates.iter().try_for_each(|gate| gate.check(&names)).map_err(Failure::Usage)?;
    let (server_core, load_core) = cores(&given)?;
    given.settings.load_core = load_core;
    let mut entrants = Vec::new();
    for (name, what, again) in &parts {
        entrants.push(enter(name, what, again.clone(), &given, server_core)?);
    }
    let mut rounds = Rounds::new("", []);
    rounds.notes.extend(same::check(&mut entrants, given.may_differ)?);
    rounds.variants = entrants.iter().map(|entrant| entrant.variant.clone()).collect();
    let mut record = Record::new("compare", Environment::look());
    settings::note(&mut record, &entrants[0].plan);
    record.set("rounds", given.rounds);
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
    rounds.notes.extend(doubts(&rounds, given.settings.output.confidence()));
    let verdicts = verdicts(&given, &rounds);
    rounds.notes.extend(verdicts.iter().map(|(text, _)| text.clone()));
    record.experiments.push(rounds);
    given.settings.output.write(&record)?;
    stopped?;
    if verdicts.iter().any(|(_, broken)| *broken) { Err(Failure::Broken) } else { Ok(()) }
}

/// Name, what it is, and whose second part it plays.
type Named = (String, String, Option<String>);

fn named(variants: &[String], control: bool) -> Result<Vec<Named>, Failure> {
    let mut named: Vec<Named> = Vec::new();
    for variant in variants {
        let (name, what) =
            variant.split_once('=').filter(|(name, what)| is_name(name) && !what.is_empty()).ok_or_else(|| {
                Failure::Usage(format!(
                    "\"{variant}\" is no variant; it would be 'NAME=http://...' or 'NAME=./server --port {{port}}'"
                ))
            })?;
        if named.iter().any(|(other, ..)| other == name) {
            return Err(Failure::Usage(format!("two variants are called \"{name}\"")));
        }
        named.push((name.to_owned(), what.to_owned(), None));
    }
    let Some((name, what, _)) = named.first().cloned() else {
        return Err(Failure::Usage(
            "no variant is named; it would be 'NAME=http://...' or 'NAME=./server --port {port}'".into(),
        ));
    };
    if control {
        named.push((format!("{name} (again)"), what, Some(name)));
    }
    if named.len() < 2 {
        return Err(Failure::Usage("one variant without its control has nothing beside it".into()));
    }
    Ok(named)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', ':', ' ', '<', '>', '*'])
}

/// The servers' core and the load's: the first two that are ours, unless somebody says otherwise.
fn cores(given: &Given) -> Result<(Option<usize>, Option<usize>), Failure> {
    let ours = core::ours();
    let (server, load) = (given.server_core, given.settings.load_core);
    if !given.pins || ours.len() < 2 {
        return Ok((server, load));
    }
    let free = |other: Option<usize>| ours.iter().copied().find(|core| Some(*core) != other);
    let server = server.or_else(|| free(load));
    let load = load.or_else(|| free(server));
    if server == load {
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
        let plan = given.settings.plan(given.settings.target(what, None)?, 3)?;
        return Ok(Entrant { variant, plan, server: None });
    }
    let launch: Launch = what.parse().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    if launch.wants_port() != given.url.contains("{port}") && given.settings.unix.is_none() {
        return Err(Failure::Usage(format!(
            "{name}: {{port}} stands in only one of the command and --url {}",
            given.url
        )));
    }
    let mut server = Started::spawn(&launch, core).map_err(|error| format!("{name}: {error}"))?;
    let socket = given.settings.unix.as_deref().map(|socket| server.fill(socket));
    let plan = given.settings.plan(given.settings.target(&server.fill(&given.url), socket)?, 3)?;
    until_it_answers(&mut server, &plan).map_err(|error| format!("{name}: {error}"))?;
    Ok(Entrant { variant, plan, server: Some(server) })
}

/// All rounds. What was measured until something went wrong stays in `rounds`.
fn play(entrants: &mut [Entrant], rounds: &mut Rounds, given: &Given) -> Result<(), Failure> {
    let quiet = given.settings.output.quiet;
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
    let mut random = given.seed.map_or_else(Random::from_clock, Random::from_seed);
    for number in 1..=given.rounds {
        let order = random.order(entrants.len());
        let mut samples = vec![Sample::new(); entrants.len()];
        for &place in &order {
            if interrupt::is_asked() {
                return Err(Failure::Run(format!("ended by a signal in round {number} of {}", given.rounds)));
            }
            let plan = entrants[place].plan.clone();
            let (sample, curve) = turn(&mut entrants[place], &plan, quiet)?;
            rounds.variants[place].curve = Some(curve);
            samples[place] = sample;
        }
        let shown = order.iter().map(|place| {
            let rate = samples[*place].get(&Measure::Rate).copied().unwrap_or_default();
            format!("{} {}", entrants[*place].variant.name, Measure::Rate.show(rate))
        });
        say(&format!("round {number} of {}: {}", given.rounds, shown.collect::<Vec<_>>().join(", ")));
        rounds.push(order, samples);
    }
    Ok(())
}

fn turn(entrant: &mut Entrant, plan: &Plan, quiet: bool) -> Result<(Sample, crate::compare::Curve), Failure> {
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
    Ok((sample(&figures, meter.and_then(Meter::spent), meter.and_then(Meter::memory)), curve(&figures)))
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
        if let Some(noise) = noise.filter(crate::compare::Interval::has_bounds) {
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

/// What came of each gate, and whether it is broken.
fn verdicts(given: &Given, rounds: &Rounds) -> Vec<(String, bool)> {
    let confidence = given.settings.output.confidence();
    let verdict = |gate: &Gate| {
        let Some((outcome, interval)) = gate.outcome(rounds, confidence) else {
            return (format!("gate {gate}: BROKEN, it was not measured"), true);
        };
        let (word, broken) = match outcome {
            crate::compare::Outcome::Holds => ("holds", false),
            crate::compare::Outcome::Broken => ("BROKEN", true),
            crate::compare::Outcome::Open => ("open: the rounds do not decide it; more or longer ones would", false),
        };
        (
            format!(
                "gate {gate}: {word} (ratio {:.3}, between {:.3} and {:.3})",
                interval.ratio, interval.low, interval.high
            ),
            broken,
        )
    };
    given.gates.iter().map(verdict).collect()
}
