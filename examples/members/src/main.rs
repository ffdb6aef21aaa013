//! The application, as one executable.

use std::process::ExitCode;

use members::app;

fn main() -> ExitCode {
    skep_server::run(app)
}
