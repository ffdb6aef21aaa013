//! How long a page with 2 000 elements compiles: with skep's `html!` and with maud's, in turns.
//!
//! Both are crates of a workspace in `target/compile-time`, with cargo's own profiles: what a user gets who sets nothing. There
//! proc macros are built without optimisation, even for a release. Each time the page is new and all that it depends on is ready, as
//! for a developer who saved a page; only that nothing is taken from what was compiled before (`CARGO_INCREMENTAL=0`). What
//! cargo and rustc take at the least is in all figures.

use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use crate::command;

mod page;

/// Where the workspace is, below the root of the repository.
const FOLDER: &str = "target/compile-time";

/// What is compiled: `cargo` with these words.
const MODES: [(&str, &[&str]); 3] =
    [("check", &["check"]), ("build", &["build"]), ("build --release", &["build", "--release"])];

/// How skep's page begins, and maud's; and the macro of a piece that stands in a line.
const SIDES: [(&str, &str, &str); 2] = [
    (
        "skep",
        "use skep::html;\npub type Page = skep::html::Html;\n\
         pub type Badge = skep::html::Html<skep::html::Phrasing, skep::html::NoInteractive>;",
        "skep::piece",
    ),
    ("maud", "use maud::html;\npub type Page = maud::Markup;\npub type Badge = maud::Markup;", "html"),
];

/// Prints medians and ratios of this many rounds.
pub(crate) fn run(rounds: u32) -> Result<ExitCode, String> {
    write_workspace().map_err(|error| format!("{FOLDER}: {error}"))?;
    println!("a page of {} elements, {rounds} rounds; medians in seconds\n", page::ELEMENTS);
    println!("                    skep     maud    ratio    ratio of CPU time");
    for (name, words) in MODES {
        let mut times = [Vec::new(), Vec::new()];
        // The first round builds what the pages need.
        for round in 0..=rounds {
            // Each goes first in every second round.
            for side in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                times[side].push(compile(SIDES[side].0, words, round)?);
            }
        }
        let [skep, maud] = times;
        let ratios = |pick: fn(&Cost) -> f64| {
            median(skep.iter().zip(&maud).skip(1).map(|(skep, maud)| pick(skep) / pick(maud)).collect())
        };
        let seconds = |costs: &[Cost]| median(costs[1..].iter().map(|cost| cost.wall).collect());
        let (wall, cpu) = (ratios(|cost| cost.wall), ratios(|cost| cost.cpu));
        println!("{name:16} {:8.2} {:8.2} {wall:8.2} {cpu:8.2}", seconds(&skep), seconds(&maud));
    }
    Ok(ExitCode::SUCCESS)
}

fn write_workspace() -> std::io::Result<()> {
    let root = command::root();
    let folder = root.join(FOLDER);
    let members = SIDES.map(|(name, ..)| format!("\"page-{name}\"")).join(", ");
    write(&folder.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"))?;
    // The same versions as everywhere.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for (name, imports, badge) in SIDES {
        let dependency = match name {
            "skep" => format!("skep = {{ path = '{}' }}", root.join("crates/skep").display()),
            _ => format!("{name} = \"*\""),
        };
        let manifest = format!(
            "[package]\nname = \"page-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n"
        );
        let package = folder.join(format!("page-{name}"));
        write(&package.join("Cargo.toml"), &manifest)?;
        write(&package.join("src/lib.rs"), &page::source(imports, badge))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().expect("it is in a folder"))?;
    fs::write(path, text)
}

/// What it takes, in seconds. On a busy machine, CPU time is what to compare.
struct Cost {
    wall: f64,
    cpu: f64,
}

/// The CPU time of all programs that ended below this one (`proc_pid_stat(5)`), in seconds; they come as hundredths. Where there
/// is no `/proc`, the ratio is no number.
fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may have spaces: the times of children are fields 16 and 17 of all.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Compiles a changed page.
fn compile(name: &str, words: &[&str], round: u32) -> Result<Cost, String> {
    let path = command::root().join(FOLDER).join(format!("page-{name}/src/lib.rs"));
    let change = |text: String| {
        let text = text.split("// Round").next().unwrap_or_default();
        fs::write(&path, format!("{text}// Round {round}, {words:?}.\n"))
    };
    fs::read_to_string(&path).and_then(change).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut cargo = command::program("cargo");
    cargo.current_dir(command::root().join(FOLDER)).args(words).args(["--quiet", "-p"]).arg(format!("page-{name}"));
    cargo.env("CARGO_TARGET_DIR", command::root().join(FOLDER).join("target"));
    cargo.env("CARGO_INCREMENTAL", "0").stdin(Stdio::null());
    let (start, before) = (Instant::now(), cpu_of_children());
    let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    let cost = Cost { wall: start.elapsed().as_secs_f64(), cpu: cpu_of_children() - before };
    if status.success() { Ok(cost) } else { Err(format!("the page of {name} does not compile")) }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
