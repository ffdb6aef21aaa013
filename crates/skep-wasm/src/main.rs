//! The command `skep-wasm`, which `skep serve` and `skep compile` run: the functions of `skep-isolate`. It is an
//! executable of its own, since the compiler of components takes minutes to build.

use std::process::ExitCode;

const HELP: &str = "\
usage: skep-wasm COMMAND [ARGUMENT...]

  serve     serve WebAssembly components
  compile   compile a component ahead of time

`skep serve` and `skep compile` run it. `skep-wasm COMMAND --help` describes a command.
";

/// The exit code for a command line that is wrong.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let name = arguments.next().unwrap_or_default();
    match name.to_str() {
        Some("serve") => skep_isolate::serve(arguments.collect()),
        Some("compile") => skep_isolate::compile(arguments.collect()),
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Some("--version" | "-V") => {
            println!("skep-wasm {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        _ => {
            if !name.is_empty() {
                eprintln!("skep-wasm: no command \"{}\"\n", name.display());
            }
            eprint!("{HELP}");
            ExitCode::from(BAD_USAGE)
        }
    }
}
