//! The example help-desk, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(helpdesk::app)
}
