//! `skep bench cold`: from the start of a process to its first answer, and after a swap of versions.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Failure;
use super::flags::{self, Flag, Section};
use super::load::PATIENCE;
use super::output::{self, HasOutput, Output};
use super::settings::{self, HasSettings, Settings};
use super::turns::{self, HasTurns, Turns};
use crate::compare::{Measure, Rounds, Sample, Variant};
use crate::interrupt;
use crate::load::{Answer, RequestSpec, Target, fetch};
use crate::random::Random;
use crate::record::{Environment, Load, Record};
use crate::server::{Launch, Started, ask};

struct Given {
    settings: Settings,
    turns: Turns,
    swap: bool,
    control: String,
}

impl Default for Given {
    fn default() -> Self {
        let (settings, turns) = (Settings::default(), Turns::default());
        Self { settings, turns, swap: false, control: "{dir}/control".into() }
    }
}

impl HasSettings for Given {
    fn settings(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl HasTurns for Given {
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

impl HasOutput for Given {
    fn output(&mut self) -> &mut Output {
        &mut self.settings.output
    }
}

fn sections() -> [Section<Given>; 4] {
    [
        Section::new("What is timed", swap_flags()),
        Section::new(
            "Rounds",
            [turns::url(), turns::server_core(), turns::no_pin()].into_iter().chain(turns::rounds()),
        ),
        Section::new("The request", settings::reach()),
        Section::new("Results", output::flags()),
    ]
}

fn swap_flags() -> [Flag<Given>; 2] {
    [
        Flag {
            name: "swap",
            short: None,
            takes: "",
            help: "also tells a Skep server to swap, and asks the new version",
            set: |to, _| {
                to.swap = true;
                Ok(())
            },
        },
        Flag {
            name: "control",
            short: None,
            takes: "SOCKET",
            help: "the control socket for --swap ({dir}/control)",
            set: |to, text| {
                text.clone_into(&mut to.control);
                Ok(())
            },
        },
    ]
}

pub(super) fn help() -> String {
    flags::help(
        "skep bench cold 'NAME=command with {port}' ... [FLAG...]\n\n\
         Starts each variant anew in each round, in random order, and asks until it answers; then ends it.",
        &sections(),
    )
}

pub(super) fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    let variants = flags::read(&sections(), &mut given, arguments)?;
    given.settings.output.check()?;
    let launches = launches(&variants, &given)?;
    given.turns.server_core = given.turns.core(&[]);
    let mut rounds = Rounds::new("", launches.iter().map(|(name, launch)| Variant::new(name, launch.line())));
    let mut record = Record::new("cold", Environment::look());
    record.set("rounds", given.turns.rounds);
    record.set("server_core", given.turns.server_core.map_or("any".to_owned(), |core| core.to_string()));
    let machine = Load::begin();
    let stopped = play(&launches, &mut rounds, &given);
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    if rounds.rounds.is_empty() {
        return stopped;
    }
    record.experiments.push(rounds);
    given.settings.output.write(&record)?;
    stopped
}

fn launches(variants: &[String], given: &Given) -> Result<Vec<(String, Launch)>, Failure> {
    let named = turns::named(variants, "'NAME=./server --port {port}'")?;
    let launch = |(name, command): (String, String)| {
        let launch: Launch = command.parse().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        if given.settings.unix.is_none() {
            given.turns.fits(&name, &launch)?;
        }
        Ok((name, launch))
    };
    named.into_iter().map(launch).collect()
}

fn play(launches: &[(String, Launch)], rounds: &mut Rounds, given: &Given) -> Result<(), Failure> {
    let mut random = given.turns.seed.map_or_else(Random::from_clock, Random::from_seed);
    for number in 1..=given.turns.rounds {
        let order = random.order(launches.len());
        let mut samples = vec![Sample::new(); launches.len()];
        for &place in &order {
            if interrupt::is_asked() {
                return Err(Failure::Run("ended by a signal".into()));
            }
            let (name, launch) = &launches[place];
            let (sample, answer) = once(launch, given).map_err(|error| format!("{name}: {error}"))?;
            rounds.variants[place].answer = Some(format!("{}, {} bytes", answer.status, answer.body.len()));
            samples[place] = sample;
        }
        if !given.settings.output.quiet {
            eprintln!("round {number} of {}", given.turns.rounds);
        }
        rounds.push(order, samples);
    }
    Ok(())
}

fn once(launch: &Launch, given: &Given) -> Result<(Sample, Answer), String> {
    let mut server = Started::spawn(launch, given.turns.server_core)?;
    let mut target: Target = server.fill(&given.turns.url).parse()?;
    if let Some(socket) = &given.settings.unix {
        target = target.over_unix(server.fill(socket));
    }
    let request = RequestSpec::get(target.path());
    let get = || fetch(&target, &request, &given.settings.trust, given.settings.http, PATIENCE);
    let (answer, took) = server.wait(PATIENCE, get)?;
    let mut sample = Sample::from([(Measure::Start, micros(took))]);
    if given.swap {
        let socket = PathBuf::from(server.fill(&given.control));
        let asked = Instant::now();
        let said = ask(&socket, "swap")?;
        let swapped = asked.elapsed();
        if !said.starts_with("swapped") {
            return Err(format!("it did not swap: {}", said.trim()));
        }
        sample.insert(Measure::Swap, micros(swapped));
        sample.insert(Measure::AfterSwap, micros(get()?.took));
    }
    Ok((sample, answer))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
