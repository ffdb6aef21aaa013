//! `skep bench cache` and `skep bench log`: what one operation costs in this process.

use std::time::Duration;

use super::flags::{self, Flag, Section, number};
use super::output::{self, HasOutput, Output};
use super::turns::{self, HasTurns, Turns};
use super::{Failure, Sinks};
use crate::core;
use crate::micro::{self, Backends, Mix, Play};
use crate::number::parse_time;
use crate::record::{Environment, Load, Record};

struct Given {
    turns: Turns,
    time: Duration,
    ratios: Vec<(u32, u32)>,
    sizes: Vec<usize>,
    backends: Backends,
    core: Option<usize>,
    output: Output,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            turns: Turns::default(),
            time: Duration::from_millis(100),
            // The post's.
            ratios: vec![(1, 1), (1, 10), (1, 100)],
            sizes: vec![16, 160, 1600],
            backends: Backends::default(),
            core: None,
            output: Output::default(),
        }
    }
}

impl HasOutput for Given {
    fn output(&mut self) -> &mut Output {
        &mut self.output
    }
}

impl HasTurns for Given {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

fn rounds() -> Section<Given> {
    Section::new("Rounds", turns::rounds().into_iter().chain(turn_flags()))
}

fn turn_flags() -> [Flag<Given>; 2] {
    [
        Flag {
            name: "time",
            short: Some('d'),
            takes: "TIME",
            help: "how long a turn is (100ms)",
            set: |to, text| {
                to.time = parse_time(text)?.max(Duration::from_millis(1));
                Ok(())
            },
        },
        Flag {
            name: "core",
            short: None,
            takes: "CORE",
            help: "the core it runs on",
            set: |to, text| {
                to.core = Some(number(text, 0, 1 << 16)?);
                Ok(())
            },
        },
    ]
}

fn cache_flags() -> [Flag<Given>; 4] {
    [
        Flag {
            name: "ratios",
            short: None,
            takes: "S:R,...",
            help: "stores to reads (1:1,1:10,1:100)",
            set: |to, text| {
                to.ratios = text.split(',').map(ratio).collect::<Result<_, _>>()?;
                Ok(())
            },
        },
        Flag {
            name: "sizes",
            short: None,
            takes: "BYTES,...",
            help: "of the values (16,160,1600)",
            set: |to, text| {
                to.sizes = text.split(',').map(|size| number(size.trim(), 0, 1 << 20)).collect::<Result<_, _>>()?;
                Ok(())
            },
        },
        Flag {
            name: "memcached",
            short: None,
            takes: "ADDRESS",
            help: "a memcached too: host:port, or the path of its socket",
            set: |to, text| {
                to.backends.memcached = Some(text.to_owned());
                Ok(())
            },
        },
        Flag {
            name: "redis",
            short: None,
            takes: "URL",
            help: "a Redis too: redis://host:port, or unix:///path",
            set: |to, text| {
                to.backends.redis = Some(text.to_owned());
                Ok(())
            },
        },
    ]
}

fn ratio(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("\"{text}\" is no ratio; it would be 1:10, stores to reads");
    let (sets, gets) = text.trim().split_once(':').ok_or_else(wrong)?;
    let ratio = (sets.parse().map_err(|_| wrong())?, gets.parse().map_err(|_| wrong())?);
    if ratio.0 > 100_000 || ratio.1 > 100_000 || ratio == (0, 0) { Err(wrong()) } else { Ok(ratio) }
}

fn cache_sections() -> [Section<Given>; 3] {
    [Section::new("What is measured", cache_flags()), rounds(), Section::new("Results", output::flags())]
}

fn log_sections() -> [Section<Given>; 2] {
    [rounds(), Section::new("Results", output::flags())]
}

pub(super) fn cache_help() -> String {
    flags::help(
        "skep bench cache [FLAG...]\n\n\
         Drivers null, memory, shared, file, and memcached and redis if addressed, called directly and through `Cache`:\n\
         1000 keys of 36 characters, one caller, everything fits.",
        &cache_sections(),
    )
}

pub(super) fn log_help() -> String {
    flags::help(
        "skep bench log [FLAG...]\n\n\
         An event of `tracing` with a message and two fields, at the place that says it: nobody listens, its level is off,\n\
         thrown away, written as a line into memory; written by Skep's own log into /dev/null, and beside it a line of the\n\
         access log (in a `skep` that was built with the feature `log`); beside `format!` alone.",
        &log_sections(),
    )
}

pub(super) fn cache(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    read(&cache_sections(), &mut given, arguments)?;
    let mix = |(sets, gets)| given.sizes.iter().map(move |bytes| Mix { sets, gets, bytes: *bytes });
    let mixes: Vec<Mix> = given.ratios.iter().copied().flat_map(mix).collect();
    let say = |text: &str| {
        if !given.output.quiet {
            eprintln!("{text}");
        }
    };
    finish("cache", &given, |how| micro::cache(&mixes, &given.backends, how, say))
}

pub(super) fn log(arguments: Vec<String>, sinks: Sinks<'_>) -> Result<(), Failure> {
    let mut given = Given::default();
    read(&log_sections(), &mut given, arguments)?;
    finish("log", &given, |how| Ok(vec![micro::log(sinks()?, how)?]))
}

fn read(sections: &[Section<Given>], given: &mut Given, arguments: Vec<String>) -> Result<(), Failure> {
    let others = flags::read(sections, given, arguments)?;
    given.output.check()?;
    match others.first() {
        Some(other) => Err(Failure::Usage(format!("\"{other}\" is no flag, and there is nothing to name here"))),
        None => Ok(()),
    }
}

fn finish(
    kind: &str,
    given: &Given,
    work: impl FnOnce(Play) -> Result<Vec<crate::compare::Rounds>, String>,
) -> Result<(), Failure> {
    let _bound = given.core.map(core::Bound::to).transpose()?;
    let mut record = Record::new(kind, Environment::look());
    record.set("rounds", given.turns.rounds);
    record.set("time", format!("{:?}", given.time));
    let machine = Load::begin();
    record.experiments = work(Play { rounds: given.turns.rounds, time: given.time, seed: given.turns.seed })?;
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    Ok(given.output.write(&record)?)
}
