//! Topics and live pages, in an application and on real servers whose processes are killed.
//!
//! This executable is both the tests and the application under test, which it is when [`APPLICATION`] is its first
//! argument.

mod application;
mod pages;
mod presence;
mod servers;
mod topics;

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
        return skep_server::Server::new(application::app)
            .allow_unmounted_services()
            .run_with(std::env::args_os().skip(2));
    }
    let trial = |(name, test): &Test| {
        let test = *test;
        let run = move || {
            test();
            Ok(())
        };
        Trial::test(*name, run)
    };
    let all = [pages::TESTS, presence::TESTS, servers::TESTS, topics::TESTS].concat();
    libtest_mimic::run(&Arguments::from_args(), all.iter().map(trial).collect()).exit_code()
}
