//! Comparisons with other servers and caches, by programs of the workspace `tools`.

use std::process::{ExitCode, Stdio};

use crate::needs::{From, Need};
use crate::{command, needs, odd, setup};

const SERVERS: (&str, &str) = ("tools/Cargo.toml", "runner");
const CACHE: (&str, &str) = ("tools/Cargo.toml", "cache-bench");
const LOG: (&str, &str) = ("tools/Cargo.toml", "log-bench");

/// Loggers beside which a log line is measured. Without one, its column is left out, and the rest is measured all the
/// same.
const LOGGERS: &[Need] = &[
    Need {
        name: "spdlog",
        why: "a log line is compared with one of it",
        steps: &[],
        found: || command::succeeds("pkg-config", &["--exists", "spdlog"]) && command::succeeds("c++", &["--version"]),
        from: From::Debian(&["libspdlog-dev", "g++", "pkg-config"]),
    },
    Need {
        name: "Log4perl",
        why: "a log line is compared with one of it",
        steps: &[],
        found: || command::succeeds("perl", &["-MLog::Log4perl", "-e1"]),
        from: From::Debian(&["liblog-log4perl-perl"]),
    },
];

/// Builds the bench's runner and hands it the arguments. What it measures, and how, it says itself: `--help`.
pub(crate) fn run(args: &[String]) -> Result<ExitCode, String> {
    if args.first().is_some_and(|first| first == "odd") {
        setup::run(needs::NEEDS.iter().filter(|need| odd::NEEDS.contains(&need.name)))?;
        return odd::run();
    }
    let ((manifest, package), args) = chosen(args);
    if !command::root().join(manifest).is_file() {
        return Err(format!("{manifest} is not there, and `peers` runs what is in it"));
    }
    if package == LOG.1
        && let Err(problem) = setup::run(LOGGERS.iter())
    {
        println!("peers: {problem}");
    }
    let mut runner = command::program("cargo");
    runner.args(["run", "--release", "--manifest-path", manifest, "-p", package, "--"]).args(args);
    let status = runner.stdin(Stdio::inherit()).status().map_err(|error| format!("cargo does not start: {error}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `cargo xtask peers cache ...` is about caches, `log` about log lines, all else about servers.
fn chosen(args: &[String]) -> ((&'static str, &'static str), &[String]) {
    match args.split_first() {
        Some((first, rest)) if first == "cache" => (CACHE, rest),
        Some((first, rest)) if first == "log" => (LOG, rest),
        _ => (SERVERS, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benches_of_cache_and_log_are_asked_for_by_their_names() {
        let args = ["cache", "posts"].map(String::from);
        assert_eq!(chosen(&args), (CACHE, &args[1..]));
        assert_eq!(chosen(&args[1..]), (SERVERS, &args[1..]));
        assert_eq!(chosen(&["log".to_owned()]), (LOG, &[][..]));
        assert_eq!(chosen(&[]), (SERVERS, &[][..]));
    }
}
