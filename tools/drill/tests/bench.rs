//! `skep bench` with a real server of Skep's: this executable is both the test and, when [`PART`] is set, the server.

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use skep::prelude::*;
use skep_bench::compare::Measure;
use skep_bench::record::Record;

const PART: &str = "TEST_SERVES";

#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

fn main() -> ExitCode {
    if std::env::var_os(PART).is_some() {
        return skep_server::run(|| App::new().serve(services![Hello]));
    }
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials =
        vec![trial("a_server_starts_and_swaps", cold_starts_and_swaps), trial("a_load_has_figures", what_it_takes)];
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn command() -> String {
    let this = std::env::current_exe().expect("a program knows where it is");
    format!("{PART}=1 {} --listen 127.0.0.1:{{port}} --data {{dir}}", this.display())
}

/// Runs a word of the bench, and reads its record.
fn record(line: &[&str]) -> Record {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let json = folder.path().join("a.json").display().to_string();
    let line = [line, &["-q", "--json", &json]].concat();
    let code = skep_bench::run(line.iter().map(Into::into).collect());
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS), "{line:?}");
    Record::read(Path::new(&json)).expect("the record was written")
}

/// The server starts, swaps to the file that it came from, and answers before and after.
fn cold_starts_and_swaps() {
    let record = record(&["cold", &format!("skep={}", command()), "-R", "2", "--swap"]);
    let rounds = &record.experiments[0];
    assert_eq!(rounds.variants[0].answer.as_deref(), Some("200, 13 bytes"));
    for measure in [Measure::Start, Measure::Swap, Measure::AfterSwap] {
        assert!(rounds.median(0, measure).is_some_and(|micros| micros > 0.0), "{measure:?}");
    }
}

/// Supervisor and worker are watched, however they are found.
fn what_it_takes() {
    let flags = ["-d", "300ms", "-w", "100ms", "-c", "2", "--start", &command()];
    let record = record(&[&["http://127.0.0.1:{port}/"][..], &flags].concat());
    let rounds = &record.experiments[0];
    for measure in [Measure::Rate, Measure::Cpu, Measure::Memory] {
        assert!(rounds.median(0, measure).is_some_and(|figure| figure > 0.0), "{measure:?}");
    }
}
