//! The load generator of `skep bench` beside others: is it the server that is measured, or the load?
//!
//! One server, which costs as little as one can (`peers/epoll`), on its core; the generators on the other, one after
//! the other, each round in another order. All read answers of 13 bytes over kept connections. Start reading at
//! [`run`].

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use skep_bench::compare::{Matrix, Measure, Rounds, Sample, Variant as Column};
use skep_bench::random::shuffled;
use skep_bench::server::{Usage, Watched};

use crate::Result;
use crate::build::{Need, executable};
use crate::cores;
use crate::experiment::{Load, Variant};
use crate::flags::Flags;
use crate::load;
use crate::measure::float;
use crate::program::Program;
use crate::report::CONFIDENCE;
use crate::server::Server;
use crate::site::Site;

const CONNECTIONS: u16 = 32;

const WRK: Need = Need::debian("wrk", "wrk");

const OHA: Need = Need::program("oha", "cargo install oha; --root tools/target/tools puts it where it is found");

/// Who makes the load.
#[derive(Clone, Copy, PartialEq)]
enum Generator {
    Ours,
    Wrk,
    Oha,
}

impl Generator {
    fn name(self) -> &'static str {
        match self {
            Self::Ours => "skep bench",
            Self::Wrk => "wrk",
            Self::Oha => "oha",
        }
    }

    fn need(self) -> Option<Need> {
        match self {
            Self::Ours => None,
            Self::Wrk => Some(WRK),
            Self::Oha => Some(OHA),
        }
    }

    /// Loads for so long. How many good answers there were.
    fn load(self, port: u16, time: Duration) -> Result<u64> {
        let (url, seconds) = (format!("http://127.0.0.1:{port}/"), time.as_secs_f64());
        let connections = CONNECTIONS.to_string();
        match self {
            Self::Ours => Ok(load::run(Load::KeepAlive { connections: CONNECTIONS }, port, "/", time)?.requests()),
            Self::Wrk => {
                let seconds = format!("-d{seconds:.0}s");
                wrk_answers(&written(Command::new(executable(WRK)).args(["-t1", "-c", &connections, &seconds, &url]))?)
            }
            Self::Oha => {
                let seconds = format!("{seconds:.0}s");
                let mut oha = Command::new(executable(OHA));
                oha.args(["--no-tui", "--output-format", "json", "-c", &connections, "-z", &seconds, &url]);
                oha_answers(&written(&mut oha)?)
            }
        }
    }
}

/// Measures all that are there, and prints the tables.
pub(crate) fn run(flags: &Flags) -> Result<()> {
    crate::build::peer("peer-epoll", !flags.no_build)?;
    crate::run::end_on_signals()?;
    let all = [Generator::Ours, Generator::Wrk, Generator::Oha];
    let missing = |one: &Generator| one.need().and_then(Need::missing);
    for one in all.iter().filter_map(missing) {
        eprintln!("not measured: {one}");
    }
    let there: Vec<Generator> = all.into_iter().filter(|one| missing(one).is_none()).collect();
    cores::bind(cores::LOAD)?;
    let site = Site::lay_out()?;
    let server = Server::start(&Variant { name: "epoll", program: Program::Epoll, path: "/" }, "generators", &site)?;
    let columns = there.iter().map(|one| Column::new(one.name(), "one thread"));
    let mut rounds = Rounds::new("load generators", columns);
    let (mut random, time) = (fastrand::Rng::new(), Duration::from_secs_f64(flags.seconds().max(1.0)));
    for number in 1..=flags.rounds() {
        crate::run::go_on()?;
        eprintln!("round {number} of {}", flags.rounds());
        let order = shuffled(&mut random, there.len());
        let mut samples = vec![Sample::new(); there.len()];
        for &place in &order {
            samples[place] = turn(there[place], &server, time)?;
        }
        rounds.push(order, samples);
    }
    println!("{}", tables(&rounds));
    Ok(())
}

fn tables(rounds: &Rounds) -> String {
    let measures = [Measure::Rate, Measure::Cpu, Measure::User, Measure::System];
    let table = |measure| Matrix::of(rounds, measure, CONFIDENCE).markdown();
    format!(
        "{} rounds, {CONNECTIONS} kept connections, 13 bytes. CPU is the generator's, for each answer.\n\n{}",
        rounds.rounds.len(),
        measures.map(table).join("\n")
    )
}

/// One generator once: what it reached, and what it took of its core, which is what this process and its children took
/// without the server.
fn turn(generator: Generator, server: &Server, time: Duration) -> Result<Sample> {
    let all = Watched::process(std::process::id())?;
    let look = || -> Result<(Usage, Usage)> { Ok((all.usage()?, server.watched().usage()?)) };
    let before = look()?;
    let answers = float(generator.load(server.port, time)?.max(1));
    let after = look()?;
    let (all, servers) = (after.0.since(&before.0), after.1.since(&before.1));
    let cpu = all.cpu_us - servers.cpu_us;
    let user = all.cpu_us * all.user_share - servers.cpu_us * servers.user_share;
    Ok(Sample::from([
        (Measure::Rate, answers / time.as_secs_f64()),
        (Measure::Cpu, cpu / answers),
        (Measure::User, user / answers),
        (Measure::System, (cpu - user) / answers),
    ]))
}

fn written(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", command.get_program().display(), output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `  46512 requests in 3.00s, 5.10MB read`; another line says if some were no good.
fn wrk_answers(text: &str) -> Result<u64> {
    let line = text.lines().find_map(|line| line.split_once(" requests in ")).map(|(count, _)| count.trim());
    let bad = text.contains("Socket errors:") || text.contains("Non-2xx");
    let count = line.filter(|_| !bad).and_then(|count| count.parse().ok());
    count.ok_or_else(|| format!("wrk's answer is not understood: {text}").into())
}

fn oha_answers(text: &str) -> Result<u64> {
    let answer: Value = serde_json::from_str(text)?;
    let count = answer["statusCodeDistribution"]["200"].as_u64();
    count.ok_or_else(|| format!("oha's answer is not understood: {text}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_read() {
        let wrk = "Running 3s test @ http://127.0.0.1:1/\n  1 threads and 32 connections\n  46512 requests in 3.00s, 5.10MB read\nRequests/sec:  15504.00\n";
        assert_eq!(wrk_answers(wrk).unwrap(), 46_512);
        assert!(wrk_answers(&format!("{wrk}  Socket errors: connect 0, read 12, write 0, timeout 0\n")).is_err());
        assert_eq!(oha_answers(r#"{"statusCodeDistribution": {"200": 45618}}"#).unwrap(), 45_618);
        assert!(oha_answers("{}").is_err());
    }
}
