//! Components under a whole server: what a request leaves behind, what goes wrong, what changes while it runs.
//!
//! This executable is both the tests and the server under test, which it is when [`server::PART`] is set. Run one with
//! `cargo test -p skep-isolate --test isolate -- NAME`. The components are built by the tests, from `tests/guest`.

mod commands;
mod drills;
mod grants;
mod guests;
mod http2;
mod keeping;
mod languages;
mod limits;
mod many;
mod rules;
mod same;
mod server;
mod supervised;
mod swaps;
#[cfg(feature = "wasi03")]
mod third;
mod tls;
mod totals;
mod users;
mod wrong;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

type Test = (&'static str, fn());

/// Tests that run at once, unless `--test-threads` says otherwise: each starts servers of its own, and waits more than
/// it works.
const AT_ONCE: usize = 2;

/// Serves an application without a component. This executable has the services of others, too.
fn native(app: fn() -> skep::App) -> ExitCode {
    skep_server::Server::new(app).allow_unmounted_services().run()
}

fn main() -> ExitCode {
    if let Some(part) = std::env::var_os(server::PART) {
        let arguments = std::env::args_os().skip(1).collect();
        return match part.to_str() {
            Some("compile") => skep_isolate::compile(arguments),
            Some("hello") => native(hello::app),
            Some("forms") => native(forms::app),
            Some("blog") => native(blog::app),
            _ => skep_isolate::serve(arguments),
        };
    }
    let all = [
        keeping::TESTS,
        grants::TESTS,
        drills::TESTS,
        limits::TESTS,
        rules::TESTS,
        same::TESTS,
        totals::TESTS,
        swaps::TESTS,
        wrong::TESTS,
        many::TESTS,
        commands::TESTS,
        supervised::TESTS,
        tls::TESTS,
        users::TESTS,
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
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    libtest_mimic::run(&arguments, trials).exit_code()
}
