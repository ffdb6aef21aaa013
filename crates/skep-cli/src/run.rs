//! `skep run`: a task of an application, which its own executable runs.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::run_with;

const HELP: &str = "\
usage: skep run [--manifest-path FILE] [-p PACKAGE] [TASK [ARGUMENT...]]

Run a task of the application in this folder, which `App::task` has added, with its settings and its database; without one,
list them. The application is built for it. On a server, the executable does the same: shop --run TASK ARGUMENT...

  --manifest-path FILE   the Cargo.toml of an application elsewhere
  -p PACKAGE             the package of a workspace
";

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with("run", HELP, read(arguments), execute)
}

fn execute(words: Vec<OsString>) -> ExitCode {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo is replaced by the application: signals and the exit code are its own.
    eprintln!("skep run: cargo: {}", cargo.args(["run", "--quiet"]).args(words).exec());
    ExitCode::FAILURE
}

/// The arguments of `cargo run`; none for help. Behind the name, all is the task's.
fn read(arguments: Vec<OsString>) -> Result<Option<Vec<OsString>>, String> {
    let mut words = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    while let Some(argument) = arguments.next_if(|argument| argument.as_encoded_bytes().starts_with(b"-")) {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--manifest-path" | "-p" | "--package") => {
                let value = arguments.next().ok_or_else(|| format!("{} needs a value", argument.display()))?;
                words.extend([argument, value]);
            }
            _ => return Err(format!("there is no flag {}", argument.display())),
        }
    }
    words.extend(["--", "--run"].map(Into::into));
    words.extend(arguments);
    Ok(Some(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_name_is_the_task_s() {
        let of = |line: &str| read(line.split_whitespace().map(Into::into).collect());
        assert_eq!(of("-p shop import --help -p x"), Ok(Some(words("-p shop -- --run import --help -p x"))));
        assert_eq!(of(""), Ok(Some(words("-- --run"))));
        assert_eq!(of("--help"), Ok(None));
        assert!(of("--manifest-path").is_err() && of("--dry import").is_err());
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }
}
