//! The command line of `skep-wasm`; what its commands do is tried by `skep-isolate`.

use std::process::{Command, Output};

fn skep_wasm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skep-wasm")).args(arguments).output().unwrap()
}

#[test]
fn each_command_has_its_help_and_its_errors() {
    for (line, code, says) in [
        (&["--help"][..], 0, "skep-wasm COMMAND"),
        (&["--version"], 0, "skep-wasm "),
        (&[], 2, "skep-wasm COMMAND"),
        (&["sreve"], 2, "no command \"sreve\""),
        (&["serve", "--help"], 0, "--module-cache"),
        (&["compile", "--help"], 0, "-o"),
        (&["serve", "missing.wasm"], 1, "missing.wasm"),
        (&["compile", "missing.wasm"], 1, "missing.wasm"),
    ] {
        let output = skep_wasm(line);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.code() == Some(code) && text.contains(says), "{line:?}: {:?} {text}", output.status);
    }
}
