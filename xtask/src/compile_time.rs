//! How long macros and programs compile. A page with 2 000 elements: with skep's `html!` and with maud's, in turns.
//! 1 000 statements: with `sql!`, which checks them, and with `query()`, which does not. Whole programs: `builds.rs`.
//!
//! Pages and statements are crates of a workspace in `target/compile-time`, with cargo's own profiles: what a user gets
//! who sets nothing. There proc macros are built without optimisation, even for a release. Each time the source is new
//! and all that it depends on is ready, as for a developer who saved a file; only that nothing is taken from what was
//! compiled before (`CARGO_INCREMENTAL=0`). What cargo and rustc take at the least is in all figures.

use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use crate::command;

mod builds;
mod page;
mod statements;

/// Where the workspace is, below the root of the repository.
const FOLDER: &str = "target/compile-time";

/// What is compiled: `cargo` with these words.
type Mode = (&'static str, &'static [&'static str]);

const MODES: [Mode; 3] = [("check", &["check"]), ("build", &["build"]), ("build --release", &["build", "--release"])];

/// One of two crates that do the same.
struct Package {
    name: &'static str,
    /// As its manifest has it.
    dependency: String,
    /// Paths below its folder, and what is in them.
    files: Vec<(String, String)>,
}

fn pages() -> [Package; 2] {
    let page = |imports: &str, badge| vec![("src/lib.rs".to_owned(), page::source(imports, badge))];
    let skep = "use skep::html;\npub type Page = skep::html::Html;\n\
                pub type Badge = skep::html::Html<skep::html::Phrasing, skep::html::NoInteractive>;";
    let maud = "use maud::html;\npub type Page = maud::Markup;\npub type Badge = maud::Markup;";
    [
        Package { name: "page-skep", dependency: skep_itself(), files: page(skep, "skep::piece") },
        Package { name: "page-maud", dependency: "maud = \"*\"".to_owned(), files: page(maud, "html") },
    ]
}

fn statements() -> [Package; 2] {
    let package = |name, is_checked| {
        let source = ("src/lib.rs".to_owned(), statements::source(is_checked));
        Package { name, dependency: skep_itself(), files: statements::migrations().chain([source]).collect() }
    };
    [package("statements-sql", true), package("statements-query", false)]
}

fn skep_itself() -> String {
    format!("skep = {{ path = '{}' }}", command::root().join("crates/skep").display())
}

/// Prints medians and ratios of this many rounds: of whole programs if `builds`, of the statements if `sql`, else of
/// the page.
pub(crate) fn run(rounds: u32, sql: bool, builds: bool) -> Result<ExitCode, String> {
    if builds {
        return builds::run(rounds).map(|()| ExitCode::SUCCESS);
    }
    let (pages, statements) = (pages(), statements());
    write_workspace(pages.iter().chain(&statements)).map_err(|error| format!("{FOLDER}: {error}"))?;
    println!("{rounds} rounds; medians in seconds, ratios of what was measured in the same round\n");
    if sql { compare(&MODES[..1], statements, rounds) } else { compare(&MODES, pages, rounds) }
}

fn compare(modes: &[Mode], sides: [Package; 2], rounds: u32) -> Result<ExitCode, String> {
    let [one, other] = sides.map(|side| side.name);
    println!("{:16} {one:>17} {other:>17} {:>8} {:>21}", "", "ratio", "CPU time");
    for (name, words) in modes {
        let mut times = [Vec::new(), Vec::new()];
        // The first round builds what the crates need.
        for round in 0..=rounds {
            // Each goes first in every second round.
            for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                times[side].push(compile([one, other][side], words, round)?);
            }
        }
        let [one, other] = times.map(|times| times[1..].to_vec());
        let ratio = |pick: fn(&Cost) -> f64| {
            median(one.iter().zip(&other).map(|(one, other)| pick(one) / pick(other)).collect())
        };
        let seconds = |costs: &[Cost], pick: fn(&Cost) -> f64| median(costs.iter().map(pick).collect());
        let (wall, cpu) = (|cost: &Cost| cost.wall, |cost: &Cost| cost.cpu);
        let [one_cpu, other_cpu] = [&one, &other].map(|costs| seconds(costs, cpu));
        let (one, other, wall, cpu) = (seconds(&one, wall), seconds(&other, wall), ratio(wall), ratio(cpu));
        println!("{name:16} {one:17.2} {other:17.2} {wall:8.2} {one_cpu:7.2} {other_cpu:6.2} {cpu:6.2}");
    }
    Ok(ExitCode::SUCCESS)
}

fn write_workspace<'p>(packages: impl Iterator<Item = &'p Package>) -> std::io::Result<()> {
    let root = command::root();
    let folder = root.join(FOLDER);
    let mut members = Vec::new();
    for Package { name, dependency, files } in packages {
        members.push(format!("\"{name}\""));
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n"
        );
        write(&folder.join(name).join("Cargo.toml"), &manifest)?;
        for (path, text) in files {
            write(&folder.join(name).join(path), text)?;
        }
    }
    let members = members.join(", ");
    write(&folder.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"))?;
    // The same versions as everywhere.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).map(drop)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().expect("it is in a folder"))?;
    fs::write(path, text)
}

/// What it takes, in seconds. On a busy machine, CPU time is what to compare.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    cpu: f64,
}

/// The CPU time of all programs that ended below this one (`proc_pid_stat(5)`), in seconds; they come as hundredths.
/// Where there is no `/proc`, the ratio is no number.
fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may have spaces: the times of children are fields 16 and 17 of all.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Compiles a changed source.
fn compile(name: &str, words: &[&str], round: u32) -> Result<Cost, String> {
    let path = command::root().join(FOLDER).join(name).join("src/lib.rs");
    let change = |text: String| {
        let text = text.split("// Round").next().unwrap_or_default();
        fs::write(&path, format!("{text}// Round {round}, {words:?}.\n"))
    };
    fs::read_to_string(&path).and_then(change).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut cargo = command::program("cargo");
    cargo.current_dir(command::root().join(FOLDER)).args(words).args(["--quiet", "-p"]).arg(name);
    cargo.env("CARGO_TARGET_DIR", command::root().join(FOLDER).join("target"));
    cargo.env("CARGO_INCREMENTAL", "0").stdin(Stdio::null());
    let (start, before) = (Instant::now(), cpu_of_children());
    let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    let cost = Cost { wall: start.elapsed().as_secs_f64(), cpu: cpu_of_children() - before };
    if status.success() { Ok(cost) } else { Err(format!("{name} does not compile")) }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
