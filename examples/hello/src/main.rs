//! The smallest application, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(hello::app)
}
