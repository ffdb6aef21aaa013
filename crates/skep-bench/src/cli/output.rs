//! Where results go: a table for a person on stdout, and whatever files were asked for.

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Failure;
use super::flags::Flag;
use crate::compare::Measure;
use crate::load::{Figures, Watch};
use crate::record::Record;
use crate::report;
use crate::server::Meter;

/// Which files are written; `-` is stdout, and then the table is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    json: Option<PathBuf>,
    csv: Option<PathBuf>,
    markdown: Option<PathBuf>,
    html: Option<PathBuf>,
    svg: Option<PathBuf>,
    hdr: Option<PathBuf>,
    pub(crate) quiet: bool,
    pub(crate) confidence: Option<f64>,
    pub(crate) measures: Vec<Measure>,
}

/// Whoever has an output among its settings.
pub(crate) trait HasOutput {
    fn output(&mut self) -> &mut Output;
}

/// The flags of every word.
pub(crate) fn flags<T: HasOutput>() -> Vec<Flag<T>> {
    files().into_iter().chain(ways()).collect()
}

fn files<T: HasOutput>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "json",
            short: None,
            takes: "FILE",
            help: "writes the record: every figure, and the machine (- is stdout)",
            set: |to, text| {
                to.output().json = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "csv",
            short: None,
            takes: "FILE",
            help: "writes a line for each figure",
            set: |to, text| {
                to.output().csv = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "md",
            short: None,
            takes: "FILE",
            help: "writes the tables as Markdown",
            set: |to, text| {
                to.output().markdown = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "html",
            short: None,
            takes: "FILE",
            help: "writes a report with plots, one file that needs nothing else",
            set: |to, text| {
                to.output().html = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "svg",
            short: None,
            takes: "FOLDER",
            help: "writes the plots into a folder",
            set: |to, text| {
                to.output().svg = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "hdr",
            short: None,
            takes: "FOLDER",
            help: "writes HDR histograms into a folder: NAME.hgrm and latency.hlog",
            set: |to, text| {
                to.output().hdr = Some(text.into());
                Ok(())
            },
        },
    ]
}

fn ways<T: HasOutput>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "quiet",
            short: Some('q'),
            takes: "",
            help: "says nothing while it runs",
            set: |to, _| {
                to.output().quiet = true;
                Ok(())
            },
        },
        Flag {
            name: "confidence",
            short: None,
            takes: "PERCENT",
            help: "of the intervals (99)",
            set: |to, text| {
                to.output().confidence = Some(super::flags::number(text, 50.0, 99.9)? / 100.0);
                Ok(())
            },
        },
        Flag {
            name: "measure",
            short: None,
            takes: "NAME,...",
            help: "one matrix for each: rate, p99, cpu, memory, ... (rate, and cpu where known)",
            set: |to, text| {
                to.output().measures =
                    text.split(',').map(|key| Measure::of_key(key.trim())).collect::<Result<_, _>>()?;
                Ok(())
            },
        },
    ]
}

impl Output {
    pub(crate) fn confidence(&self) -> f64 {
        self.confidence.unwrap_or(0.99)
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
