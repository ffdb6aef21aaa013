//! `skep secret`: a new key for the file of the setting `secret`.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::BAD_USAGE;

const HELP: &str = "\
usage: skep secret

Print a new key, 64 hexadecimal digits, for the file that the setting `secret` names. The first line of it seals cookies and
tokens, and all lines open them: put a new key before the old ones. The application's own `--generate-secret` prints one, too.

examples, for the first key, and for another one before the old ones:

  (umask 077; set -C; skep secret > data/secret)
  (umask 077; { skep secret && cat data/secret; } > data/secret.new && mv data/secret.new data/secret)
";

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    match arguments.first().map(|argument| argument.to_string_lossy()) {
        None => match key() {
            Ok(key) => {
                println!("{key}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("skep secret: the system has no randomness: {error}");
                ExitCode::FAILURE
            }
        },
        Some(help) if help == "--help" || help == "-h" => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprint!("skep secret: it takes no argument, and not \"{other}\"\n\n{HELP}");
            ExitCode::from(BAD_USAGE)
        }
    }
}

fn key() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}
