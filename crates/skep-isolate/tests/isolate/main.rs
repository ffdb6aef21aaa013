//! Components under a whole server: what a request leaves behind, what goes wrong, what changes while it runs.
//!
//! This executable is both the tests and the server under test, which it is when [`server::PART`] is set. Run one with
//! `cargo test -p skep-isolate --test isolate -- NAME`. The components are built by the tests, from `tests/guest`.

mod commands;
mod drills;
mod grants;
mod guests;
mod keeping;
mod languages;
mod many;
mod server;
mod supervised;
mod swaps;
mod third;
mod tls;
mod wrong;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

type Test = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(part) = std::env::var_os(server::PART) {
        let arguments = std::env::args_os().skip(1).collect();
        return if part == "compile" { skep_isolate::compile(arguments) } else { skep_isolate::serve(arguments) };
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let all = [
        keeping::TESTS,
        grants::TESTS,
        drills::TESTS,
        swaps::TESTS,
        wrong::TESTS,
        many::TESTS,
        commands::TESTS,
        languages::TESTS,
        supervised::TESTS,
        tls::TESTS,
        third::TESTS,
    ]
    .concat();
    let chosen = |test: &&Test| filters.is_empty() || filters.iter().any(|filter| test.0.contains(filter.as_str()));
    if arguments.iter().any(|argument| argument == "--list") {
        all.iter().filter(chosen).for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let mut failed = Vec::new();
    for (name, test) in all.iter().filter(chosen) {
        let start = Instant::now();
        let is_well = catch_unwind(AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {} ({:.1} s)", if is_well { "ok" } else { "FAILED" }, start.elapsed().as_secs_f32());
        if !is_well {
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("failed: {failed:?}");
    ExitCode::FAILURE
}
