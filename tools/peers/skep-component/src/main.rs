//! The application as one executable. It has the flags of every Skep application.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(skep_component::app())
}
