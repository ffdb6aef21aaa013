//! The application, as one executable.

use std::process::ExitCode;

use starter::app;

fn main() -> ExitCode {
    skep_server::run(app)
}
