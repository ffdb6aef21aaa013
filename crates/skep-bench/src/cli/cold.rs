//! `skep bench cold`: from the start of a process to its first answer, and after a swap of versions.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::Failure;
use super::flags::{self, Flag, number};
use super::load::PATIENCE;
use super::output::{self, HasOutput, Output};
use crate::compare::{Measure, Rounds, Sample, Variant};
use crate::load::{Answer, RequestSpec, Target, Trust, Version, fetch};
use crate::random::Random;
use crate::record::{Environment, Load, Record};
use crate::server::{Launch, Started, ask};
use crate::{core, interrupt};

struct Given {
    rounds: usize,
    url: String,
    swap: bool,
    control: String,
    server_core: Option<usize>,
    trust: Trust,
    output: Output,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            rounds: 10,
            url: "http://127.0.0.1:{port}/".into(),
            swap: false,
            control: "{dir}/control".into(),
            server_core: None,
            trust: Trust::System,
            output: Output::default(),
        }
    }
}

impl HasOutput for Given {
    fn output(&mut self) -> &mut Output {
        &mut self.output
    }
}

fn own_flags() -> Vec<Flag<Given>> {
    vec![
        Flag {
            name: "rounds",
            short: Some('R'),
            takes: "N",
            help: "in each, every variant is started once (10)",
            set: |to, text| {
                to.rounds = number(text, 1, 10_000)?;
                Ok(())
            },
        },
        Flag {
            name: "url",
            short: None,
            takes: "URL",
            help: "what is asked (http://127.0.0.1:{port}/)",
            set: |to, text| {
                text.clone_into(&mut to.url);
                Ok(())
            },
        },
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
        Flag {
            name: "server-core",
            short: None,
            takes: "CORE",
            help: "the core of the servers (the first of two or more)",
            set: |to, text| {
                to.server_core = Some(number(text, 0, 1 << 16)?);
                Ok(())
            },
        },
        Flag {
            name: "insecure",
            short: Some('k'),
            takes: "",
            help: "trusts any certificate",
            set: |to, _| {
                to.trust = Trust::All;
                Ok(())
            },
        },
    ]
}

pub(super) fn help() -> String {
    format!(
        "usage: skep bench cold 'NAME=command with {{port}}' ... [FLAG...]\n\n\
         Starts each variant anew in each round, in random order, and asks until it answers; then ends it.\n\n{}\nResults:\n{}",
        flags::help(&own_flags()),
        flags::help(&output::flags::<Given>()),
    )
}

pub(super) fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut given = Given::default();
    let tables = [own_flags(), output::flags()];
    let variants = flags::read(&tables.each_ref().map(Vec::as_slice), &mut given, arguments)?;
    let launches = launches(&variants, &given)?;
    let cores = core::ours();
    if cores.len() > 1 {
        given.server_core = given.server_core.or(Some(cores[0]));
    }
    let mut rounds = Rounds::new("", launches.iter().map(|(name, launch)| Variant::new(name, launch.line())));
    let mut record = Record::new("cold", Environment::look());
    record.set("rounds", given.rounds);
    record.set("server_core", given.server_core.map_or("any".to_owned(), |core| core.to_string()));
    let machine = Load::begin();
    let stopped = play(&launches, &mut rounds, &given);
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

fn launches(variants: &[String], given: &Given) -> Result<Vec<(String, Launch)>, Failure> {
    let wrong = |variant: &str| {
        Failure::Usage(format!("\"{variant}\" is no variant; it would be 'NAME=./server --port {{port}}'"))
    };
    let launches = variants.iter().map(|variant| {
        let (name, command) = variant.split_once('=').ok_or_else(|| wrong(variant))?;
        let launch: Launch = command.parse().map_err(Failure::Usage)?;
        if launch.wants_port() == given.url.contains("{port}") {
            Ok((name.to_owned(), launch))
        } else {
            Err(Failure::Usage(format!("{name}: {{port}} stands in only one of the command and --url {}", given.url)))
        }
    });
    let launches = launches.collect::<Result<Vec<_>, _>>()?;
    if launches.is_empty() { Err(wrong("")) } else { Ok(launches) }
}

fn play(launches: &[(String, Launch)], rounds: &mut Rounds, given: &Given) -> Result<(), Failure> {
    let mut random = Random::from_clock();
    for number in 1..=given.rounds {
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
        if !given.output.quiet {
            eprintln!("round {number} of {}", given.rounds);
        }
        rounds.push(order, samples);
    }
    Ok(())
}

fn once(launch: &Launch, given: &Given) -> Result<(Sample, Answer), String> {
    let mut server = Started::spawn(launch, given.server_core)?;
    let target: Target = server.fill(&given.url).parse()?;
    let request = RequestSpec::get(target.path());
    let get = || fetch(&target, &request, &given.trust, Version::Http1, PATIENCE);
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
