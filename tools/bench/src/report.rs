//! What is shown of a record: for a person at a terminal, as Markdown, as CSV, as plots, as one file of HTML.

mod hdr;
mod html;
mod plot;
mod scale;
mod text;

use std::fs;
use std::path::Path;
use std::time::Duration;

pub(crate) use html::html;
pub(crate) use text::{beside, csv, markdown, text, with_machine};

use crate::compare::Rounds;
use crate::record::Record;

/// A plot, and what its file is called.
struct Plot {
    name: String,
    title: &'static str,
    svg: String,
}

/// All plots of an experiment that have something to show.
fn plots(rounds: &Rounds) -> Vec<Plot> {
    let plot = |name: &str, title, svg: Option<String>| svg.map(|svg| Plot { name: name.to_owned(), title, svg });
    [
        plot("bars", "Compared", plot::bars(rounds)),
        plot("latency", "Latency by percentile", plot::latency(rounds)),
        plot("throughput", "Throughput over time", plot::over_time(rounds, plot::What::Rate)),
        plot("p99", "p99 latency over time", plot::over_time(rounds, plot::What::P99)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Writes the latencies into a folder: percentiles in a file for each variant, and all of them in one log.
pub(crate) fn hdr(record: &Record, folder: &Path) -> Result<(), String> {
    let wrong = |path: &Path, error| format!("{}: {error}", path.display());
    let mut all = Vec::new();
    for (number, rounds) in record.experiments.iter().enumerate() {
        for variant in &rounds.variants {
            let Some(latency) = &variant.latency else { continue };
            let name: String =
                variant.name.chars().map(|c| if c.is_alphanumeric() || "._+".contains(c) { c } else { '-' }).collect();
            let name = name.trim_matches('-').to_owned();
            let name = if record.experiments.len() > 1 { format!("{}-{name}", number + 1) } else { name };
            all.push((name, latency.histogram()?));
        }
    }
    if all.is_empty() {
        return Err("--hdr: there are no latencies in this record".into());
    }
    fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    for (name, histogram) in &all {
        let path = folder.join(format!("{name}.hgrm"));
        fs::write(&path, hdr::percentiles(histogram)).map_err(|error| wrong(&path, error))?;
    }
    let path = folder.join("latency.hlog");
    fs::write(&path, hdr::log(&all, measured(record))?).map_err(|error| wrong(&path, error))
}

/// How long each variant was measured, all rounds together.
fn measured(record: &Record) -> Duration {
    let rounds = record.experiments.iter().map(|rounds| rounds.rounds.len()).max().unwrap_or(1);
    let turn = record.settings.get("time").and_then(|time| skep_units::parse_duration(time).ok()).unwrap_or_default();
    turn * u32::try_from(rounds).unwrap_or(1)
}

/// Writes the plots into a folder, which is made if it is not there.
pub(crate) fn svgs(record: &Record, folder: &Path) -> Result<(), String> {
    let wrong = |path: &Path, error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| wrong(folder, error))?;
    let several = record.experiments.len() > 1;
    for (number, rounds) in record.experiments.iter().enumerate() {
        for plot in plots(rounds) {
            let name = if several { format!("{}-{}.svg", number + 1, plot.name) } else { plot.name + ".svg" };
            let path = folder.join(name);
            fs::write(&path, plot.svg).map_err(|error| wrong(&path, error))?;
        }
    }
    Ok(())
}
