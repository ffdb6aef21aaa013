//! The application, as one executable.

use std::process::ExitCode;

use notes_api::app;

fn main() -> ExitCode {
    skep_server::run(app)
}
