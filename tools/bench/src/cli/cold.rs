//! `skep bench cold`: from the start of a process to its first answer, and after a swap of versions.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::Failure;
use super::load::PATIENCE;
use super::output::Output;
use super::settings::Reach;
use super::turns::{self, Turns};
use crate::compare::{Measure, Rounds, Sample, Variant};
use crate::interrupt;
use crate::load::{FetchedResponse, RequestSpec, Target, fetch};
use crate::random::shuffled;
use crate::record::{Environment, Load, Record};
use crate::server::{Launch, Started, ask};

/// Measure the time to the first response after a start or a swap.
///
/// In each round, starts each variant in random order, requests until it responds, and ends it.
#[derive(Debug, Args)]
#[command(override_usage = "skep bench cold 'NAME=command with {port}' ... [OPTIONS]")]
pub(crate) struct Given {
    /// Commands to start, with {port} and {dir} filled in
    #[arg(value_name = "NAME=COMMAND", required = true)]
    variants: Vec<String>,
    /// Also swap a Skep server, and request the new version
    #[arg(long)]
    swap: bool,
    /// Control socket for --swap
    #[arg(long, value_name = "SOCKET", default_value = "{dir}/control")]
    control: String,
    #[command(flatten)]
    turns: Turns,
    #[command(flatten)]
    reach: Reach,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(given: Given) -> Result<(), Failure> {
    given.output.check()?;
    let launches = launches(&given)?;
    let core = given.turns.core(&[]);
    let mut rounds = Rounds::new("", launches.iter().map(|(name, launch)| Variant::new(name, launch.line())));
    let mut record = Record::new("cold", Environment::look());
    record.set("rounds", given.turns.rounds);
    record.set("server_core", core.map_or("any".to_owned(), |core| core.to_string()));
    let machine = Load::begin();
    let stopped = play(&launches, &mut rounds, core, &given);
    if let Some(cores) = machine.busy_cores() {
        record.environment.add("busy_cores", format!("{cores:.2}"));
    }
    if rounds.rounds.is_empty() {
        return stopped;
    }
    record.experiments.push(rounds);
    given.output.write(&record)?;
    stopped
}

fn launches(given: &Given) -> Result<Vec<(String, Launch)>, Failure> {
    let named = turns::named(&given.variants, "'NAME=./server --port {port}'")?;
    let launch = |(name, command): (String, String)| {
        let launch: Launch = command.parse().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        if given.reach.unix.is_none() {
            given.turns.fits(&name, &launch)?;
        }
        Ok((name, launch))
    };
    named.into_iter().map(launch).collect()
}

fn play(launches: &[(String, Launch)], rounds: &mut Rounds, core: Option<usize>, given: &Given) -> Result<(), Failure> {
    let mut random = given.turns.random();
    for number in 1..=given.turns.rounds {
        let order = shuffled(&mut random, launches.len());
        let mut samples = vec![Sample::new(); launches.len()];
        for &place in &order {
            if interrupt::is_asked() {
                return Err(Failure::Run("ended by a signal".into()));
            }
            let (name, launch) = &launches[place];
            let (sample, answer) = once(launch, core, given).map_err(|error| format!("{name}: {error}"))?;
            rounds.variants[place].answer = Some(format!("{}, {} bytes", answer.status, answer.body.len()));
            samples[place] = sample;
        }
        if !given.output.quiet {
            eprintln!("round {number} of {}", given.turns.rounds);
        }
        rounds.push(order, samples);
    }
    Ok(())
}

fn once(launch: &Launch, core: Option<usize>, given: &Given) -> Result<(Sample, FetchedResponse), String> {
    let mut server = Started::spawn(launch, core)?;
    let mut target: Target = server.fill(&given.turns.url).parse()?;
    if let Some(socket) = &given.reach.unix {
        target = target.over_unix(server.fill(socket));
    }
    let request = RequestSpec::get(target.path());
    let trust = given.reach.trust();
    let get = || fetch(&target, &request, &trust, given.reach.http, PATIENCE);
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
