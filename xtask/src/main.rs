//! What the project does to itself: `cargo xtask test`, `setup`, `tidy`, `pages`, `peers`,
//! `compile-time`, `drill`.
//!
//! A check is never more here than a command a developer could type: same profile, same features, same flags, so that
//! nothing is built twice. Start reading at [`test::run`], or at [`tidy::RULES`] for what a file must look like.

use std::process::ExitCode;

mod command;
mod compile_time;
mod drill;
mod nearest;
mod needs;
mod pages;
mod peers;
mod report;
mod room;
mod setup;
mod steps;
mod test;
mod tidy;
mod vnu;

const HELP: &str = "\
usage: cargo xtask COMMAND

  test [STEP...]   install what is missing, then run every step, or those named
       --list      name the steps
  setup            only install what is missing
  tidy             only check the shape of the tree
  pages            only check the pages of the examples, with what judges them
  peers [ARG...]   run the bench beside the peers; ARGs go to its runner (`peers posts`: the posts' tables, `peers cache ...`:
                   the bench of the cache)
  compile-time [N] compile a large page with html! and with maud's, N times each
  drill [ARG...]   build `skep drill`, optimised, and run it: disasters under load, and what was lost
  help             this text
";

const COMMANDS: [&str; 8] = ["test", "setup", "tidy", "pages", "peers", "compile-time", "drill", "help"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    run(&args).unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        ExitCode::FAILURE
    })
}

/// An error here is one that kept the command from being carried out; a check that failed is an exit code.
fn run(args: &[String]) -> Result<ExitCode, String> {
    let Some((command, rest)) = args.split_first() else {
        return Err(format!("what to do?\n\n{HELP}"));
    };
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") && command != "peers" {
        return help();
    }
    match command.as_str() {
        "test" => test::run(rest),
        "setup" => none(rest).and_then(|()| setup::run(needs::NEEDS.iter())).map(|()| ExitCode::SUCCESS),
        "tidy" => none(rest).and_then(|()| tidy::run()),
        "pages" => none(rest).and_then(|()| pages::run()),
        "peers" => peers::run(rest),
        "compile-time" => compile_time::run(rest),
        "drill" => drill::run(rest),
        "help" | "--help" | "-h" => help(),
        unknown => Err(nearest::unknown("command", unknown, COMMANDS)),
    }
}

// It has the result of its neighbours in `run`.
#[allow(clippy::unnecessary_wraps)]
fn help() -> Result<ExitCode, String> {
    print!("{HELP}\nsteps of test:\n\n{}", steps::list());
    Ok(ExitCode::SUCCESS)
}

fn none(args: &[String]) -> Result<(), String> {
    args.first().map_or(Ok(()), |arg| Err(format!("{arg:?} means nothing here; `cargo xtask help` says what does")))
}
