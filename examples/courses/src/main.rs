//! The booking system, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(courses::app)
}
