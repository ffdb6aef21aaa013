//! The example of a board, as one executable.

use std::process::ExitCode;

fn main() -> ExitCode {
    skep_server::run(board::app)
}
