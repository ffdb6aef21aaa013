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
#[cfg(feature = "wasi03")]
mod third;
mod tls;
mod wrong;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

type Test = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(part) = std::env::var_os(server::PART) {
        let arguments = std::env::args_os().skip(1).collect();
        return if part == "compile" { skep_isolate::compile(arguments) } else { skep_isolate::serve(arguments) };
    }
    let all = [
        keeping::TESTS,
        grants::TESTS,
        drills::TESTS,
        swaps::TESTS,
        wrong::TESTS,
        many::TESTS,
        commands::TESTS,
        supervised::TESTS,
        tls::TESTS,
        #[cfg(feature = "wasi03")]
        third::TESTS,
    ]
    .concat();
    let trial = |(name, test): Test| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let mut trials: Vec<_> = all.into_iter().map(trial).collect();
    // They need Node and Python: `cargo xtask test external`.
    trials.extend(languages::TESTS.iter().copied().map(|test| trial(test).with_ignored_flag(true)));
    // Each starts servers of its own, which share the cores.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}
