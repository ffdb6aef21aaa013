//! Whole processes: supervisor, workers, swaps, and disasters under load.
//!
//! This executable is both the tests and the application under test, which it is when [`APPLICATION`] is its first
//! argument. Run one with `cargo test -p skep-server --test processes -- NAME`; `skep drill` runs the drills with more
//! load.

mod backups;
mod caches;
mod draining;
mod drills;
mod encrypted;
mod logs;
mod models;
mod observed;
#[cfg(feature = "otlp")]
mod otlp;
mod proxies;
mod server;
mod subscriber;
mod supervision;
mod swaps;
mod users;
mod websockets;

use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use skep_drill::APPLICATION;

/// A test, or a drill.
type Test = (&'static str, fn());

/// What the drills fail in, and what these tests keep in caches. One version has forgotten the latter, and one takes
/// long to.
fn application() -> skep::App {
    let app = skep_drill::application()
        .store(&caches::NOTES)
        .store(&caches::MARKS)
        .on_start(caches::ask_before_the_fork)
        .on_status(say);
    let all = |app: skep::App| {
        app.serve(caches::SERVICES)
            .serve(logs::SERVICES)
            .serve(proxies::SERVICES)
            .serve(users::SERVICES)
            .serve(websockets::SERVICES)
    };
    match &*skep_drill::version() {
        "forgets" => app,
        "forgets late" => {
            std::thread::sleep(Duration::from_millis(500));
            app
        }
        "tallies" => all(app).database(caches::TALLIES),
        _ => all(app),
    }
}

fn say(_site: &skep::Site) -> Vec<skep::status::Part> {
    let notes = skep::status::Part::new("notes").line("they are \"kept\"\nand nobody reads them");
    vec![notes.value("kept", 3_u64).value("where", "here \"and\" there")]
}

/// Tests that run at once, unless `--test-threads` says otherwise: each starts servers of its own, and waits more than
/// it works.
const AT_ONCE: usize = 3;

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == APPLICATION) {
        return subscriber::server(application).run_with(std::env::args_os().skip(2));
    }
    let all = [
        supervision::TESTS,
        models::TESTS,
        swaps::TESTS,
        draining::TESTS,
        drills::TESTS,
        encrypted::TESTS,
        backups::TESTS,
        caches::TESTS,
        logs::TESTS,
        subscriber::TESTS,
        proxies::TESTS,
        users::TESTS,
        observed::TESTS,
        websockets::TESTS,
        #[cfg(feature = "otlp")]
        otlp::TESTS,
    ]
    .concat();
    let trial = |(name, test): Test| {
        let need = [caches::NEED_A_BACKEND, observed::NEED_PROMTOOL, drills::NEED_FAKETIME].concat();
        let needs_backend = need.contains(&name);
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        trial.with_ignored_flag(needs_backend)
    };
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    libtest_mimic::run(&arguments, all.into_iter().map(trial).collect()).exit_code()
}
