//! Hit ratios on public traces: what each policy finds, at three sizes.
//!
//! Each access asks, and stores what it did not find. There is no clock in it and no other thread, so a busy machine
//! changes nothing. What changes from run to run is the seed of the hashes: mostly by a tenth of a point, but moka by
//! up to 0.8 (`cdn`, 6 MB). So a short trace is run several times, each time with new seeds, and the mean is shown.

use figures::table::Table;
use serde_json::{Value, json};

use crate::Result;
use crate::flags::Flags;
use crate::outcome::Outcome;

mod optimal;
mod ours;
mod policy;
mod source;

use policy::{ROWS, Row, Size};
use source::{Accesses, TRACES, Trace};

/// The size of the cache is that of all entries divided by these.
const PARTS: [u64; 3] = [50, 10, 3];

/// `memory` must come within a point of moka's best, `shared` within three.
const GOALS: [(&str, f64); 2] = [("memory", 1.0), ("shared", 3.0)];

/// A trace is run until there were a million accesses, but not more often.
const RUNS: usize = 9;

/// What one cache of one size found in one trace, in all runs.
struct Cell {
    row: &'static str,
    runs: usize,
    hits: usize,
    hit_bytes: u64,
}

/// One trace at one size.
struct Line {
    trace: &'static str,
    size: Size,
    accesses: usize,
    keys: usize,
    has_sizes: bool,
    cells: Vec<Cell>,
}

pub(crate) fn run(flags: &Flags) -> Result<Outcome> {
    let jar = source::jar(flags.jar.as_deref())?;
    let rows: Vec<&Row> = ROWS.iter().filter(|row| flags.wants(row.name)).collect();
    let mut lines = Vec::new();
    for trace in &TRACES {
        eprintln!("traces: {}: {}", trace.name, trace.about);
        let accesses = trace.read(&jar, flags.accesses)?;
        lines.extend(PARTS.map(|part| line(trace, &accesses, part, &rows)));
    }
    let mut outcome =
        Outcome::new("traces", "Hit ratios in percent, on public traces, at 1/50, 1/10 and 1/3 of all entries.");
    outcome.table("", table(&rows, &lines));
    outcome.note(format!(
        "{} ({}), at most {} accesses of each trace. `optimal` knows the future. Only `cdn` has sizes, and its caches are \
         bounded in bytes; its row counts requests.",
        source::ARTIFACT,
        "Apache-2.0; web07, web12 and orm-busy: headissue GmbH, Jens Wilke, CC BY 4.0",
        flags.accesses
    ));
    for (row, points) in GOALS {
        outcome.verdicts.extend(verdict(row, points, &lines));
    }
    outcome.raw = lines.iter().map(raw).collect();
    Ok(outcome)
}

fn line(trace: &Trace, accesses: &Accesses, part: u64, rows: &[&Row]) -> Line {
    let entries = (accesses.keys / usize::try_from(part).expect("a part is small")).max(1);
    let size = Size { entries, weight: (accesses.weight / part).max(1) };
    let mut cells: Vec<Cell> = rows.iter().map(|row| cell(row, accesses, size)).collect();
    if !accesses.has_sizes {
        let hits = optimal::hits(&accesses.list, accesses.keys, entries);
        cells.push(Cell { row: "optimal", runs: 1, hits, hit_bytes: hits as u64 });
    }
    let Accesses { keys, has_sizes, .. } = *accesses;
    Line { trace: trace.name, size, accesses: accesses.list.len(), keys, has_sizes, cells }
}

fn cell(row: &Row, accesses: &Accesses, size: Size) -> Cell {
    let runs = (1_000_000 / accesses.list.len()).clamp(1, RUNS);
    let mut cell = Cell { row: row.name, runs, hits: 0, hit_bytes: 0 };
    for _ in 0..runs {
        let mut cache = (row.make)(size);
        for access in &accesses.list {
            if cache.visit(*access) {
                cell.hits += 1;
                cell.hit_bytes += u64::from(access.weight);
            }
        }
    }
    cell
}

impl Line {
    #[allow(clippy::cast_precision_loss)] // A trace has some millions of accesses.
    fn percent(&self, row: &str) -> Option<f64> {
        let cell = self.cells.iter().find(|cell| cell.row == row)?;
        Some(cell.hits as f64 * 100.0 / (self.accesses * cell.runs) as f64)
    }

    /// The best of moka's policies.
    fn mokas_best(&self) -> Option<f64> {
        let mokas = self.cells.iter().filter(|cell| cell.row.starts_with("moka"));
        mokas.filter_map(|cell| self.percent(cell.row)).max_by(f64::total_cmp)
    }
}

fn table(rows: &[&Row], lines: &[Line]) -> Table {
    let names = rows.iter().map(|row| row.name).chain(["optimal"]);
    let head = ["trace", "accesses", "keys", "size"].into_iter().chain(names.clone());
    let mut table = Table::new(head.map(str::to_owned));
    for line in lines {
        let size =
            if line.has_sizes { format!("{} MB", line.size.weight / 1_000_000) } else { line.size.entries.to_string() };
        let facts = [line.trace.to_owned(), line.accesses.to_string(), line.keys.to_string(), size];
        let shown = |name| line.percent(name).map_or("-".to_owned(), |percent| format!("{percent:.2}"));
        table.row(facts.into_iter().chain(names.clone().map(shown)).collect());
    }
    table
}

/// The worst cell decides.
fn verdict(row: &str, points: f64, lines: &[Line]) -> Option<String> {
    let behind = lines.iter().filter_map(|line| {
        let behind = line.mokas_best()? - line.percent(row)?;
        Some((behind, format!("{} at {}", line.trace, line.size.entries)))
    });
    let behind: Vec<_> = behind.collect();
    let within = behind.iter().filter(|(behind, _)| *behind <= points).count();
    let (worst, place) = behind.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let word = if *worst <= points { "met" } else { "missed" };
    Some(format!(
        "{row} within {points} points of moka's best: {within} of {} cells, worst {worst:.2} behind ({place}): **{word}**",
        behind.len()
    ))
}

fn raw(line: &Line) -> Value {
    let cells = line
        .cells
        .iter()
        .map(|cell| json!({ "cache": cell.row, "runs": cell.runs, "hits": cell.hits, "hit_weight": cell.hit_bytes }));
    json!({
        "trace": line.trace, "accesses": line.accesses, "keys": line.keys, "entries": line.size.entries,
        "weight": line.size.weight, "has_sizes": line.has_sizes, "cells": cells.collect::<Vec<_>>(),
    })
}
