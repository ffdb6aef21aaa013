//! The example blog, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(blog::app)
}
