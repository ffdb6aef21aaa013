//! What the project does to itself: `cargo xtask test`, `setup`, `tidy`, `pages`, `book`, `interface`,
//! `peers`, `compile-time`, `drill`, `dist`.
//!
//! A check is never more here than a command a developer could type: same profile, same features, same flags, so that
//! nothing is built twice. Start reading at [`test::run`], or at [`tidy::RULES`] for what a file must look like.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod book;
mod command;
mod compile_time;
mod dist;
mod drill;
mod executables;
mod features;
mod instructions;
mod interface;
mod msrv;
mod needs;
mod odd;
mod packages;
mod pages;
mod peers;
mod report;
mod room;
mod setup;
mod site;
mod steps;
mod suites;
mod test;
mod tidy;
mod vnu;

/// Check, build and measure the project.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", max_term_width = 120, after_help = steps::list())]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the hermetic steps, which need Rust only, or those named; installs what they need
    #[command(after_help = steps::list())]
    Test(test::Args),
    /// Only install what is missing
    Setup {
        /// Only what the steps of `test --rest` need beyond those of `test`
        #[arg(long)]
        rest: bool,
    },
    /// Check the rules of the tree
    Tidy {
        /// Print import cycles, of one crate or of all, and the imports that close them
        #[arg(long, value_name = "CRATE", num_args = 0..=1, default_missing_value = "all")]
        cycles: Option<String>,
    },
    /// Only check the pages of the examples, with the Nu Html Checker
    Pages,
    /// Build the manual in docs/ into target/book, and check its links
    Book,
    /// Compare the public interface with the one in xtask/interface
    Interface {
        /// Record it instead
        #[arg(long)]
        write: bool,
    },
    /// Build what is handed out, in target/dist: the commands and the blog as static executables, and an image
    Dist,
    /// Measure Skep and its peers; `peers posts`: the posts' tables; `peers cache`: the bench of the cache;
    /// `peers log`: what a log line costs; `peers odd`: the table of odd requests
    #[command(disable_help_flag = true)]
    Peers {
        /// Arguments of the runner, such as --help
        #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Compile a large page with html! and with maud's, in turns; or whole programs
    CompileTime {
        /// Check 1 000 statements instead: checked ones and unchecked ones
        #[arg(long)]
        sql: bool,
        /// Build whole programs instead, from nothing and after an edit: some ten minutes a round
        #[arg(long, conflicts_with = "sql")]
        builds: bool,
        /// Rounds
        #[arg(default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
        rounds: u32,
    },
    /// Build `skep drill`, optimised, and run it: disasters under load, and what was lost
    #[command(disable_help_flag = true)]
    Drill {
        /// Arguments of `skep drill`, such as --help
        #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

fn main() -> ExitCode {
    run(CommandLine::parse().command).unwrap_or_else(|error| {
        eprintln!("xtask: {error}");
        ExitCode::FAILURE
    })
}

/// An error here is one that kept the command from being carried out; a check that failed is an exit code.
fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Test(args) => test::run(&args),
        Command::Setup { rest } => {
            setup::run(needs::NEEDS.iter().filter(|need| !rest || need.is_of_rest())).map(|()| ExitCode::SUCCESS)
        }
        Command::Tidy { cycles: None } => tidy::run(),
        Command::Tidy { cycles: Some(only) } => tidy::print_cycles(Some(only.as_str()).filter(|only| *only != "all")),
        Command::Pages => pages::run(),
        Command::Book => book::run(),
        Command::Interface { write } => interface::run(write),
        Command::Dist => dist::run().map(|()| ExitCode::SUCCESS),
        Command::Peers { args } => peers::run(&args),
        Command::CompileTime { rounds, sql, builds } => compile_time::run(rounds, sql, builds),
        Command::Drill { args } => drill::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_arguments_of_other_programs_are_theirs() {
        let line = ["xtask", "peers", "posts", "--help", "--", "--rounds"];
        let Command::Peers { args } = CommandLine::parse_from(line).command else { panic!("not peers") };
        assert_eq!(args[..2], ["posts", "--help"]);
    }

    #[test]
    fn a_mistake_names_what_was_probably_meant() {
        let error = |line: [&str; 3]| CommandLine::try_parse_from(line).unwrap_err().to_string();
        assert!(error(["xtask", "test", "clipy"]).contains("'clippy'"));
        assert!(error(["xtask", "test", "--lst"]).contains("'--list'"));
        assert!(error(["xtask", "compiletime", "3"]).contains("'compile-time'"));
    }
}
