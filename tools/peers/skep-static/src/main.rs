//! Files from Skep, and nothing else: what stands beside nginx and lighttpd.
//!
//! It has the flags of every Skep application. Run: `STATIC_DIR=DIR skep-static --listen 127.0.0.1:PORT --workers 1`.

use std::process::ExitCode;

use skep::App;
use skep::files::Files;

fn main() -> ExitCode {
    let Some(dir) = std::env::var_os("STATIC_DIR") else {
        eprintln!("skep-static: STATIC_DIR does not name the folder to serve");
        return ExitCode::FAILURE;
    };
    skep_server::run(|| App::new().files("/", Files::dir(dir)))
}
