//! Jobs, in an application and on real servers: some run one after the other with a clock that is moved, others in
//! processes that are killed.
//!
//! This executable is both the tests and the application under test, which it is when [`APPLICATION`] is its first
//! argument.

mod application;
mod batches;
mod cluster;
mod disasters;
mod mail;
mod page;
mod postgres;
mod queue;
mod retries;
mod schedules;
mod servers;
mod shell;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use skep_drill::APPLICATION;

/// A test by its name.
type Test = (&'static str, fn());

/// The tests of a module, each by its name.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        pub(crate) const TESTS: &[crate::Test] = &[$((stringify!($test), $test)),*];
    };
}
pub(crate) use tests;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == APPLICATION) {
        let is_scheduled = std::env::var_os(disasters::SCHEDULED).is_some();
        return skep_server::Server::new(if is_scheduled { application::scheduled } else { application::app })
            .allow_unmounted_services()
            .run_with(std::env::args_os().skip(2));
    }
    let trial = |ignored: bool| {
        move |(name, test): &Test| {
            let test = *test;
            let run = move || {
                test();
                Ok(())
            };
            Trial::test(*name, run).with_ignored_flag(ignored)
        }
    };
    let here = [
        batches::TESTS,
        disasters::TESTS,
        mail::TESTS,
        page::TESTS,
        queue::TESTS,
        retries::TESTS,
        schedules::TESTS,
        servers::TESTS,
        shell::TESTS,
    ]
    .concat();
    let mut trials: Vec<Trial> = here.iter().map(trial(false)).collect();
    // They start a PostgreSQL of their own.
    trials.extend(postgres::TESTS.iter().chain(cluster::TESTS).map(trial(true)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
