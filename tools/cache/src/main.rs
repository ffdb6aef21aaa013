//! Measures skep-cache beside the caches of Rust and Perl, memcached and Redis.
//!
//! Each measurement is a module with a `run` that gives an [`outcome::Outcome`]. Cells come in rounds, in random order,
//! so that what disturbs the machine disturbs all alike; ratios are made within a round. Servers and processes that it
//! starts end with it. [`pin`] says which core does what. Run: `cargo xtask peers cache --help`.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

mod flags;
mod interface;
mod load;
mod outcome;
mod peer;
mod pin;
mod posts;
mod record;
mod rounds;
mod shared;
mod site;
mod traces;
mod worker;

use clap::Parser;
use flags::Flags;
use outcome::Outcome;

/// What a person reads when it does not go on.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Name, what it measures, and how.
type Measurement = (&'static str, &'static str, fn(&Flags) -> Result<Outcome>);

/// All there are, in the order in which they run.
const MEASUREMENTS: [Measurement; 4] = [
    ("interface", "what `Cache` adds to each driver", interface::run),
    ("traces", "hit ratios on public traces", traces::run),
    ("posts", "the table of the post on Perl's caches, beside Perl's, Rust's, memcached and Redis", posts::run),
    ("shared", "reads over 100 000 keys, in one process and in two, beside Rust's caches", shared::run),
];

/// Where this crate is.
fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn main() -> ExitCode {
    match cache_bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cache: {error}");
            ExitCode::FAILURE
        }
    }
}

fn cache_bench() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((worker::WORD, rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return worker::run(rest);
    }
    let flags = Flags::parse();
    let machine = record::machine();
    pin::before_last(0)?;
    let mut outcomes = Vec::new();
    for (name, _, run) in MEASUREMENTS {
        if flags.measurements.iter().any(|wanted| wanted == name) {
            let outcome = run(&flags)?;
            println!("{outcome}");
            outcomes.push(outcome);
        }
    }
    flags.out.as_deref().map_or(Ok(()), |file| record::write(file, &machine, &flags, &outcomes))
}
