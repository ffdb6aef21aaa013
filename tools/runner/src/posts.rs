//! tools/posts.md, made from a record: each post's table as published, the same measured again, and Skep beside it.
//!
//! The record is all it reads, so that the page of an old one can be made again. Start reading at [`page`].

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use figures::table::Table;
use serde_json::Value;

use crate::Result;
use crate::build::{repository, tools};
use crate::experiment::POSTS;
use crate::flags::Flags;
use published::{CACHE, CACHE_COLUMNS, CACHE_SKEP, FigureGroup, Kind, LOG, Post};
use recorded::{Experiment, Recorded, number};

mod published;
mod readme;
mod recorded;

/// Whether the bench of the cache belongs to this run: its first table is that of the post on Perl's caches.
pub(crate) fn wants_cache(flags: &Flags) -> bool {
    flags.experiments.iter().any(|name| name == POSTS || name == "post-perl")
}

/// Runs the bench of the cache, and says how its record beside `file` is called.
pub(crate) fn measure_cache(file: &Path, install: bool) -> Result<String> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let record = file.with_file_name(format!("{stem}-cache.json"));
    // The command is a part of the record, and a folder of one machine is not.
    let named = record.strip_prefix(repository()).unwrap_or(&record);
    eprintln!("post-perl, caches");
    let mut cargo = Command::new("cargo");
    cargo
        .args(["run", "--release", "--quiet", "--manifest-path"])
        .arg(tools().join("Cargo.toml"))
        .args(["-p", "cache-bench"]);
    cargo.args(["--", "posts", "--rounds", "3", "--millis", "30", "--out"]).arg(named);
    if !cargo.current_dir(repository()).args(install.then_some("--install")).status()?.success() {
        return Err("the bench of the cache failed".into());
    }
    Ok(record.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// Writes tools/posts.md and the figures of README.md from this record.
pub(crate) fn write(file: &Path) -> Result<()> {
    let recorded = Recorded::read(file)?;
    let docs = repository().join("tools/posts.md");
    fs::write(&docs, page(&recorded))?;
    let readme = repository().join("README.md");
    let text = fs::read_to_string(&readme)?;
    fs::write(&readme, readme::with_figures(&text, &recorded)?)?;
    eprintln!("wrote tools/posts.md and README.md's figures from {}", file.display());
    Ok(())
}

/// The page.
pub(crate) fn page(recorded: &Recorded) -> String {
    let mut page = opening(recorded);
    for post in published::POSTS {
        page += &chapter(post, recorded);
    }
    page + &perl(recorded) + &ending(recorded)
}

fn opening(recorded: &Recorded) -> String {
    let Recorded { name, record, .. } = recorded;
    let fact = |name: &str| record["machine"][name].as_str().unwrap_or("unknown").to_owned();
    format!(
        "# The posts' tables, today

Made by `cargo xtask peers --page {name}` from `tools/runs/{name}.json`. Do not edit: change
the runner in tools/runner/src/posts, or measure again.

Skep goes back to five posts that are benchmarks. Here each table stands as it was published, beside it what the same programs do on one machine of
today, and Skep. `cargo xtask peers posts --install` measures all of it and makes this page.

The machine: {}, {} cores, kernel {}, {}. The server has core 0 and the load core 1. Each figure is the median of {} after a warm-up,
the variants in random order within a round; in brackets the least and the most. `CPU` is the server's time for a request, user and system, of
all its processes; the last column compares it with the experiment's first variant (Skep, where it takes part), under the load of the first rate, with the
bounds of `skep bench` (95 %) where there were five rounds or more. Where a rate
has an asterisk, the load's core was full before the server's was, and the rate is the load's: compare CPU.

All load is a closed loop, as in the posts: it says how much a server can take, and nothing about waiting times. The record has percentiles, what other
programs took, Skep against itself as the noise, and the answers' lengths.

",
        fact("cpu"),
        fact("cores"),
        fact("kernel"),
        fact("date"),
        crate::record::rounds(record, |name| name.starts_with("post-")),
    )
}

fn chapter(post: &Post, recorded: &Recorded) -> String {
    let mut text = format!("## {}\n\n{}\n\n", post.title, post.then);
    for part in post.parts {
        text += &self::part(part, recorded);
    }
    text += "Known biases:\n\n";
    for bias in post.biases {
        let _ = writeln!(text, "- {bias}");
    }
    text + "\n"
}

/// The published rows, then everybody else of the experiment.
fn part(part: &FigureGroup, recorded: &Recorded) -> String {
    let loads = recorded.experiments(part.experiment);
    let Some(first) = loads.first() else { return format!("### {}\n\nNot measured.\n\n", part.title) };
    let mut table = Table::new(["published".into(), "then".into(), "today".into()]);
    table.head(columns(part.kind, &loads));
    for row in part.rows {
        let mut cells = vec![row.name.into(), row.figure.into(), row.today.into()];
        cells.extend(cells_of(part.kind, &loads, row.today));
        table.row(cells);
    }
    let others = first.names().into_iter().filter(|name| part.rows.iter().all(|row| row.today != *name));
    for name in others {
        let mut cells = vec![String::new(), String::new(), name.clone()];
        cells.extend(cells_of(part.kind, &loads, &name));
        table.row(cells);
    }
    let mut text = format!("### {}\n\n{table}\n", part.title);
    for left in first.left_out() {
        let _ = writeln!(text, "Not measured: {left}.\n");
    }
    text
}

fn columns(kind: Kind, loads: &[Experiment<'_>]) -> Vec<String> {
    match kind {
        Kind::Memory => ["MB (PSS)", "processes", "the largest"].map(String::from).to_vec(),
        Kind::Rate => {
            let each = loads.iter().flat_map(|load| [load.short(), "CPU us".into()]);
            each.chain(["CPU, times the first's".into()]).collect()
        }
    }
}

fn cells_of(kind: Kind, loads: &[Experiment<'_>], name: &str) -> Vec<String> {
    match kind {
        Kind::Memory => ["pss_mb", "processes", "pss_mb_largest_process"]
            .map(|key| loads[0].median(name, key).map_or("-".into(), |value| format!("{value:.1}")))
            .map(|cell| cell.trim_end_matches(".0").to_owned())
            .to_vec(),
        Kind::Rate => {
            let each = loads.iter().flat_map(|load| [load.rate(name), load.cpu(name)]);
            each.chain([loads[0].times_reference(name)]).collect()
        }
    }
}

/// The blog on Perl: caches, and logging.
fn perl(recorded: &Recorded) -> String {
    let mut text = String::from(
        "## Perl, 2009 and 2010\n\nA blog on Perl's caches (January 2010) and on logging with Moose (May 2009): a laptop with two cores, Perl 5.10.1; keys of 36 bytes, \
         values of 16, 160 and 1600 bytes, one process.\n\n### Caches, as published: operations/s by stores:reads and size of the value\n\n",
    );
    let head = || Table::new([String::from("cache")].into_iter().chain(CACHE_COLUMNS.map(String::from)));
    let mut then = head();
    for (name, figures, _) in CACHE {
        then.row([name.to_owned()].into_iter().chain(figures.map(|figure| number(f64::from(figure)))).collect());
    }
    let _ = writeln!(text, "{then}");
    let Some(cache) = &recorded.cache else { return text + "Not measured again.\n\n" };
    let mut today = head();
    for name in CACHE.iter().map(|(_, _, name)| *name).chain(CACHE_SKEP) {
        let figures = CACHE_COLUMNS.map(|mix| cache.rate(name, mix).map_or("-".into(), number));
        today.row([name.to_owned()].into_iter().chain(figures).collect());
    }
    let _ = writeln!(
        text,
        "### The same today, and Skep's\n\n{today}\nFrom `tools/runs/{0}`, which has Rust's caches too; `cargo xtask peers cache posts` measures it alone.\n",
        cache.name
    );
    text += &part(&LOG, recorded);
    text + PERL_BIASES
}

const PERL_BIASES: &str = "\
Known biases:

- Skep's rows are Rust, the others Perl: what a call costs is the language's price more than the cache's. Rust's own caches stand in the record.
- `skep memory` and `skep shared` are drivers alone; with `, Cache` they are what an application calls, with types, namespaces and one maker at a time.
- The post's client of memcached was Cache::Memcached::libmemcached, which Debian 12 does not have; Cache::Memcached::Fast stands in its place.
- Figures of the caches are short, some hundredths of a second in each round: good for factors, not for per cents.
- A message of Log4perl goes through a layout and an appender in the caller; Skep writes on a thread of its own, so the two are not in one
  table. What the access log costs a request is the difference between `skep` and `skep+log` in
  the experiment `hello`.

";

fn ending(recorded: &Recorded) -> String {
    let mut text = String::from("## Versions\n\n");
    for (name, value) in recorded.record["machine"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "- {name}: {}", value.as_str().unwrap_or_default());
    }
    text
}

/// The value of an array, or nothing.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_readme_are_those_of_the_newest_record() {
        let Some(newest) = recorded::newest() else { return };
        let recorded = Recorded::read(&newest).unwrap();
        let again = format!("again: cargo xtask peers --page {}", recorded.name);
        let docs = fs::read_to_string(repository().join("tools/posts.md")).unwrap();
        assert!(docs == page(&recorded), "tools/posts.md is not what its record says; {again}");
        let text = fs::read_to_string(repository().join("README.md")).unwrap();
        assert!(text == readme::with_figures(&text, &recorded).unwrap(), "README.md's figures are not; {again}");
    }

    #[test]
    fn every_published_figure_has_an_experiment_and_somebody_of_today() {
        for part in published::POSTS.iter().flat_map(|post| post.parts).chain([&LOG]) {
            let experiment = crate::experiment::all().find(|one| one.name == part.experiment).unwrap();
            for row in part.rows {
                let takes_part = experiment.variants.iter().any(|variant| variant.name == row.today);
                let absent = experiment.absent.iter().any(|absent| absent.name == row.today);
                assert!(takes_part || absent, "{}: {}", part.experiment, row.today);
            }
        }
    }
}
