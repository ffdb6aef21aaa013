//! The command `skep dev`: an application that follows its source.
//!
//! It builds the application, starts it, and stands in front of it on a loopback address. When the source changes it
//! builds again and has the server [swap](application): the version before answers until the new one is ready. Pages
//! get a script that loads them again, or shows over them why there is no new version. It never changes a file of the
//! application, and never listens where another machine could read its source.
//!
//! Start reading at [`work::run`].

mod ansi;
mod application;
mod build;
mod editor;
mod front;
mod inject;
mod options;
mod package;
mod policy;
mod program;
mod sources;
mod state;
mod terminal;
mod tls;
mod watch;
mod work;

use std::process::ExitCode;

use options::Options;

/// The exit code for a command line that is wrong.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == "--version" || first == "-V") {
        println!("skep-dev {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let options = match Options::read(std::env::args_os().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprint!("skep dev: {error}\n\n{}", options::HELP);
            return ExitCode::from(BAD_USAGE);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(work::run(options)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("skep dev: {error}");
            ExitCode::FAILURE
        }
    }
}
