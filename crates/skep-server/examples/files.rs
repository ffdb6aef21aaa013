//! Serves a folder: `FOLDER=... files`, for measuring how files leave. Run: `cargo run --release -p skep-server --example files`.

use std::process::ExitCode;

use skep::prelude::*;

fn main() -> ExitCode {
    let folder = std::env::var("FOLDER").unwrap_or_else(|_| ".".to_owned());
    skep_server::run(App::new().files("/", &*folder))
}
