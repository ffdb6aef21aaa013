//! What a record of the posts says, read back.

use std::path::Path;

use figures::stats::Spread;
use serde_json::Value;

use super::items;
use crate::Result;
use crate::report::CONFIDENCE;
use skep_bench::compare::Interval;

const CPU: &str = "cpu_us_per_request";

/// Above this, a core has nothing left: percent.
const FULL: f64 = 95.0;

/// A record, and that of the cache which it names.
pub(crate) struct Recorded {
    /// The file's name without its ending.
    pub(crate) name: String,
    pub(crate) record: Value,
    pub(crate) cache: Option<Cache>,
}

impl Recorded {
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let record = crate::read(file)?;
        let cache = match record["cache"].as_str() {
            Some(name) => {
                Some(Cache { name: name.replace(".json", ".md"), record: crate::read(&file.with_file_name(name))? })
            }
            None => None,
        };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, record, cache })
    }

    /// This experiment, load by load.
    pub(crate) fn experiments(&self, name: &str) -> Vec<Experiment<'_>> {
        items(&self.record["experiments"]).filter(|found| found["experiment"] == name).map(Experiment).collect()
    }
}

/// One load of one experiment.
pub(crate) struct Experiment<'a>(&'a Value);

impl Experiment<'_> {
    /// Who took part, without the control.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = items(&self.0["variants"]).filter_map(|variant| variant["name"].as_str());
        names.filter(|name| !name.ends_with("(again)")).map(str::to_owned).collect()
    }

    /// Who did not, and why.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let text = |left: &Value, key: &str| left[key].as_str().unwrap_or_default().to_owned();
        items(&self.0["left_out"]).map(|left| format!("{} ({})", text(left, "name"), text(left, "why"))).collect()
    }

    /// The load, for a column's head.
    pub(crate) fn short(&self) -> String {
        let with = self.0["with"].as_str().unwrap_or_default();
        match with.strip_prefix("a connection for each request, ") {
            Some(open) => format!("new connections, {}", open.replace(" at a time", "")),
            None if with == "alone" => "per second".into(),
            None => format!("kept, {}", with.split(' ').next().unwrap_or_default()),
        }
    }

    pub(crate) fn median(&self, name: &str, key: &str) -> Option<f64> {
        Some(self.spread(name, key)?.median)
    }

    /// `12 300 (12 100 - 12 500)`, with an asterisk where the load's core was full before the server's.
    pub(crate) fn rate(&self, name: &str) -> String {
        let Some(spread) = self.spread(name, "requests_per_s") else { return "-".into() };
        let full = |key| self.median(name, key).is_some_and(|percent| percent > FULL);
        let mark = if full("load_core_percent") && !full("server_core_percent") { "*" } else { "" };
        format!("{}{mark} ({} - {})", number(spread.median), number(spread.least), number(spread.most))
    }

    /// Microseconds of a request.
    pub(crate) fn cpu(&self, name: &str) -> String {
        self.median(name, CPU).map_or("-".into(), |cpu| format!("{cpu:.1}"))
    }

    /// How many times the first variant's CPU time it is, made within the rounds.
    pub(crate) fn times_reference(&self, name: &str) -> String {
        let reference = self.0["reference"].as_str().unwrap_or_default();
        let pairs = self.figures(name, CPU).into_iter().zip(self.figures(reference, CPU));
        let pairs: Vec<(f64, f64)> = pairs.filter_map(|(ours, other)| Some((ours?, other?))).collect();
        match Interval::of(&pairs, CONFIDENCE) {
            Some(interval) if interval.has_bounds() && name != reference => {
                format!("{} ({} - {})", times(interval.ratio), times(interval.low), times(interval.high))
            }
            Some(Interval { ratio, .. }) => times(ratio),
            None => "-".into(),
        }
    }

    fn spread(&self, name: &str, key: &str) -> Option<Spread> {
        let figures: Vec<f64> = self.figures(name, key).into_iter().flatten().collect();
        Spread::of(&figures)
    }

    /// Round by round.
    fn figures(&self, name: &str, key: &str) -> Vec<Option<f64>> {
        let of = |round: &Value| items(round).find(|figures| figures["variant"] == name)?[key].as_f64();
        items(&self.0["rounds"]).map(of).collect()
    }
}

/// The record of the bench of the cache.
pub(crate) struct Cache {
    /// Its page's file.
    pub(crate) name: String,
    record: Value,
}

impl Cache {
    /// Operations a second: the median of the rounds.
    pub(crate) fn rate(&self, who: &str, mix: &str) -> Option<f64> {
        let raw = items(&self.record["outcomes"]).map(|outcome| &outcome["raw"]["rounds"]).next()?;
        let cells = items(raw).flat_map(items).filter(|cell| cell[0] == who && cell[1] == mix);
        let rates: Vec<f64> = cells.filter_map(|cell| Some(cell[2].as_f64()? / cell[3].as_f64()?)).collect();
        Some(Spread::of(&rates)?.median)
    }
}

/// How many times, with as many digits as that deserves.
fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}") } else { format!("{ratio:.2}") }
}

/// A rate as a person reads it: three digits and a bit, with a space after each thousand.
pub(crate) fn number(value: f64) -> String {
    if value < 100.0 { format!("{value:.1}") } else { crate::measure::thousands(value) }
}

/// The newest record of the posts: the last one in the order of names.
#[cfg(test)]
pub(crate) fn newest() -> Option<std::path::PathBuf> {
    let files = std::fs::read_dir(crate::build::tools().join("runs")).ok()?.flatten().map(|entry| entry.path());
    files.filter(|file| file.to_string_lossy().ends_with("-posts.json")).filter(|file| is_of_the_posts(file)).max()
}

#[cfg(test)]
fn is_of_the_posts(file: &Path) -> bool {
    crate::read(file).is_ok_and(|record| items(&record["experiments"]).any(|one| one["experiment"] == "post-dart"))
}
