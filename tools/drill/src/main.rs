//! The command `skep-drill`, which `skep drill` runs; with the first argument [`APPLICATION`], the application that it
//! drills. `docs/guides/run/drill.md` says what each drill does and promises.

mod cli;

use std::process::ExitCode;

use skep_drill::APPLICATION;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|argument| argument == APPLICATION).is_some() {
        return skep_server::Server::new(skep_drill::application).allow_unmounted_services().run_with(arguments);
    }
    cli::run(arguments.collect())
}
