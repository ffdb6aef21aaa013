//! Where results go: a table for a person on stdout, and whatever files were asked for.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::{Failure, within};
use crate::compare::Measure;
use crate::load::{Figures, Watch};
use crate::record::Record;
use crate::report;
use crate::server::Meter;

/// Which files are written; `-` is stdout, and then the table is not.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Output {
    /// Write the record: every figure, and the machine; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a line for each figure
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long = "md", value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a report with plots, one file that loads nothing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the plots into a folder
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Write HDR histograms into a folder: NAME.hgrm and latency.hlog
    #[arg(long, value_name = "FOLDER")]
    hdr: Option<PathBuf>,
    /// Print nothing while it runs
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Confidence of the intervals, from 50 to 99.9
    #[arg(long, value_name = "PERCENT", default_value = "99", value_parser = |text: &str| within(text, 50.0, 99.9))]
    confidence: f64,
    /// A matrix for each of these: rate, p99, cpu, memory, ... [default: rate, and cpu where known]
    #[arg(long = "measure", value_name = "NAME,...", value_delimiter = ',', value_parser = |text: &str| Measure::of_key(text.trim()))]
    pub(crate) measures: Vec<Measure>,
}

impl Output {
    /// As a fraction.
    pub(crate) fn confidence(&self) -> f64 {
        self.confidence / 100.0
    }

    /// Whether all can be written that was asked for: after an hour of measuring it is too late to say so.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let files = [("json", &self.json), ("csv", &self.csv), ("md", &self.markdown), ("html", &self.html)];
        for (flag, path) in files {
            let Some(path) = path.as_deref().filter(|path| *path != Path::new("-")) else { continue };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if path.is_dir() || !folder.is_dir() {
                let what = if path.is_dir() { path } else { folder };
                let is = if path.is_dir() { "is a folder" } else { "is no folder that is there" };
                return Err(Failure::Usage(format!("--{flag} {}: {} {is}", path.display(), what.display())));
            }
        }
        Ok(())
    }

    /// Writes all that was asked for.
    pub(crate) fn write(&self, record: &Record) -> Result<(), String> {
        self.write_as(record, || report::text(record, self.confidence(), &self.measures))
    }

    /// The same, with another text for a person.
    pub(crate) fn write_as(&self, record: &Record, text: impl Fn() -> String) -> Result<(), String> {
        let mut on_stdout = false;
        let mut put = |path: &Option<PathBuf>, make: &dyn Fn() -> String| match path {
            None => Ok(()),
            Some(path) if path == Path::new("-") => {
                on_stdout = true;
                print!("{}", make());
                Ok(())
            }
            Some(path) => fs::write(path, make()).map_err(|error| format!("{}: {error}", path.display())),
        };
        let written = [
            put(&self.json, &|| record.to_json()),
            put(&self.csv, &|| report::csv(record)),
            put(&self.markdown, &|| report::markdown(record, self.confidence(), &self.measures)),
            put(&self.html, &|| report::html(record, self.confidence(), &self.measures)),
            self.svg.as_ref().map_or(Ok(()), |folder| report::svgs(record, folder)),
            self.hdr.as_ref().map_or(Ok(()), |folder| report::hdr(record, folder)),
        ];
        // A disk that is full is no reason to hide the figures.
        if !on_stdout {
            print!("{}", text());
        }
        written.into_iter().collect()
    }
}

/// Tells a person at a terminal how a load goes; and passes on to who measures the server.
pub(crate) struct Progress {
    meter: Option<Meter>,
    time: Duration,
    /// Nothing is written into files and pipes.
    shows: bool,
}

impl Progress {
    pub(crate) fn new(meter: Option<Meter>, time: Duration, quiet: bool) -> Self {
        Self { meter, time, shows: !quiet && std::io::stderr().is_terminal() }
    }

    pub(crate) fn into_meter(self) -> Option<Meter> {
        self.meter
    }

    fn line(&self, text: &str) {
        if self.shows {
            eprint!("\r\x1b[K{text}");
        }
    }
}

impl Watch for Progress {
    fn warms_up(&mut self, time: Duration) {
        self.line(&format!("  warming up for {time:?}"));
    }

    fn begins(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.begins();
        }
    }

    fn goes_on(&mut self, so_far: &Figures) {
        if self.shows {
            self.line(&progress(so_far, self.time));
        }
    }

    fn ends(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.ends();
        }
        self.line("");
    }
}

fn progress(so_far: &Figures, time: Duration) -> String {
    let latency = |percent| crate::number::time(crate::number::nanos(so_far.percentile(percent)));
    format!(
        "  {:.1} of {:.1} s: {}/s, p50 {}, p99 {}, {} errors",
        so_far.elapsed.as_secs_f64(),
        time.as_secs_f64(),
        crate::number::digits(so_far.rate()),
        latency(50.0),
        latency(99.0),
        so_far.errors.total()
    )
}
