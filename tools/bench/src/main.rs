//! The command `skep-bench`, which `skep bench` runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_bench::run(std::env::args_os().skip(1).collect())
}
