//! The guest book, as one executable.

use std::process::ExitCode;

use tutorial::app;

fn main() -> ExitCode {
    skep_server::run(app)
}
