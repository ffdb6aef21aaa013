//! The example of forms, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(forms::app)
}
