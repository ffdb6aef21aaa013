//! The bee school, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(languages::app)
}
