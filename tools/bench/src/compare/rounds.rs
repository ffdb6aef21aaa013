//! The figures of variants, round by round, as they are measured, kept in a record, and shown.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::interval::Interval;
use super::kept::StoredHistogram;
use super::measure::Measure;
use super::spread::median;
use crate::load::{Figures, histogram};
use crate::number::float;
use crate::server::Spent;

/// The figures of one variant in one round. Times are in microseconds, memory in megabytes.
///
/// See [`Rounds`].
pub type Sample = BTreeMap<Measure, f64>;

/// Variants, and what was measured of them.
///
/// ```
/// use skep_bench::compare::{Measure, Rounds, Sample, Variant};
///
/// let mut rounds = Rounds::new("hello", [Variant::new("a", "./a"), Variant::new("b", "./b")]);
/// for round in 0..6 {
///     let sample = |rate| Sample::from([(Measure::Rate, rate + f64::from(round))]);
///     rounds.push(vec![1, 0], vec![sample(200.0), sample(100.0)]);
/// }
/// let interval = rounds.interval("a", "b", Measure::Rate, 0.99).unwrap();
/// assert!(interval.ratio > 1.9 && interval.shows_a_difference());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// What is measured: the name of an experiment, or nothing.
    pub name: String,
    /// Who takes part.
    pub variants: Vec<Variant>,
    /// What came of it.
    pub rounds: Vec<Round>,
    /// What a reader must know to believe the figures, or not to.
    pub notes: Vec<String>,
}

/// One who takes part.
///
/// See [`Rounds`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The command or the address.
    pub what: String,
    /// It is this variant once more: what lies between the two is noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// What it answers: "200, 13 bytes".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// How the latency of all rounds is distributed, and how the last one went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// The latency of all rounds, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<StoredHistogram>,
}

/// One round: who came when, and the figures of each, in the order of the variants.
///
/// See [`Rounds`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The places of the variants, in the order in which they were measured.
    pub order: Vec<usize>,
    /// Their figures.
    pub samples: Vec<Sample>,
}

/// What a plot needs of one load.
///
/// See [`Variant`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Percent of the answers, and the microseconds that they took at most.
    pub latency: Vec<(f64, f64)>,
    /// How it went.
    pub over_time: Vec<Piece>,
    /// Kind, count, and one as it was worded.
    pub errors: Vec<(String, u64, String)>,
}

/// A piece of the time. Seconds, and latency in microseconds.
///
/// See [`Curve`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// When it ended.
    pub until: f64,
    /// Answers a second.
    pub rate: f64,
    /// Errors a second.
    pub errors: f64,
    /// Median latency.
    pub p50: f64,
    /// The latency that 99 % had at most.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Variant {
    /// Without an answer yet. See [`Rounds`].
    #[must_use]
    pub fn new(name: impl Into<String>, what: impl Into<String>) -> Self {
        Self { name: name.into(), what: what.into(), ..Self::default() }
    }

    /// Adds the latencies of one more load, and shows how it went.
    pub(crate) fn add(&mut self, figures: &Figures) -> Result<(), String> {
        let mut all = self.latency.as_ref().map_or_else(|| Ok(histogram()), StoredHistogram::histogram)?;
        all.add(&figures.latency).map_err(|error| format!("two histograms do not add up: {error}"))?;
        self.curve = Some(curve(figures, &all));
        self.latency = Some(StoredHistogram::of(&all)?);
        Ok(())
    }
}

impl Rounds {
    /// Nothing measured yet. See [`Rounds`].
    #[must_use]
    pub fn new(name: impl Into<String>, variants: impl IntoIterator<Item = Variant>) -> Self {
        let variants = variants.into_iter().collect();
        Self { name: name.into(), variants, rounds: Vec::new(), notes: Vec::new() }
    }

    /// Adds a round. See [`Rounds`].
    pub fn push(&mut self, order: Vec<usize>, samples: Vec<Sample>) {
        self.rounds.push(Round { order, samples });
    }

    /// The place of a variant. See [`Rounds`].
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|variant| variant.name == name)
    }

    /// A variant's figures, round by round. See [`Rounds`].
    #[must_use]
    pub fn figures(&self, place: usize, measure: Measure) -> Vec<Option<f64>> {
        self.rounds.iter().map(|round| round.samples.get(place)?.get(&measure).copied()).collect()
    }

    /// The median of a variant's figures. See [`Rounds`].
    #[must_use]
    pub fn median(&self, place: usize, measure: Measure) -> Option<f64> {
        median(&self.figures(place, measure).into_iter().flatten().collect::<Vec<_>>())
    }

    /// What was measured of anybody. See [`Rounds`].
    #[must_use]
    pub fn measures(&self) -> Vec<Measure> {
        let samples = || self.rounds.iter().flat_map(|round| &round.samples);
        Measure::all().filter(|measure| samples().any(|sample| sample.contains_key(measure))).collect()
    }

    /// How many times the other's figure is ours. See [`Rounds`].
    #[must_use]
    pub fn interval(&self, ours: &str, other: &str, measure: Measure, confidence: f64) -> Option<Interval> {
        let (ours, other) = (self.figures(self.place(ours)?, measure), self.figures(self.place(other)?, measure));
        let pairs = ours.into_iter().zip(other).filter_map(|(ours, other)| Some((ours?, other?)));
        Interval::of(&pairs.collect::<Vec<_>>(), confidence)
    }

    /// The variant that took part twice, and its second name. See [`Variant::again`].
    #[must_use]
    pub fn control(&self) -> Option<(&str, &str)> {
        self.variants.iter().find_map(|variant| Some((variant.again.as_deref()?, variant.name.as_str())))
    }
}

/// What a load and its server come to.
pub(crate) fn sample(figures: &Figures, spent: Option<Spent>, memory: Option<f64>) -> Sample {
    let micros = |percent| figures.percentile(percent).as_secs_f64() * 1e6;
    let mut sample = Sample::from([
        (Measure::Rate, figures.rate()),
        (Measure::Bytes, figures.bytes_per_second()),
        (Measure::P50, micros(50.0)),
        (Measure::P90, micros(90.0)),
        (Measure::P99, micros(99.0)),
        (Measure::P999, micros(99.9)),
        (Measure::P9999, micros(99.99)),
        (Measure::Max, float(figures.latency.max()) / 1e3),
        (Measure::Errors, float(figures.errors.total())),
        (Measure::Unanswered, float(figures.unanswered)),
        (Measure::LoadCore, figures.own_share()),
    ]);
    if figures.answers == 0 {
        // Of nothing there is no latency, and none is better than any.
        sample.retain(|measure, _| matches!(measure, Measure::Rate | Measure::Errors | Measure::Unanswered));
    }
    let answers = float(figures.answers);
    if let Some(spent) = spent.filter(|_| figures.answers > 0) {
        sample.insert(Measure::Cpu, spent.cpu_us / answers);
        sample.insert(Measure::User, spent.cpu_us * spent.user_share / answers);
        sample.insert(Measure::System, spent.cpu_us * (1.0 - spent.user_share) / answers);
        sample.insert(Measure::Switches, spent.switches / answers);
    }
    sample.extend(memory.map(|memory| (Measure::Memory, memory)));
    sample
}

/// What a plot needs of a load, and of the latencies of all loads.
fn curve(figures: &Figures, all: &Histogram<u64>) -> Curve {
    // Evenly spaced by how many nines: 0, 10, ... 90, 91, ... 99, 99.1, ...
    let steps = |from: f64, step: f64| (0..9).map(move |n| from + step * f64::from(n));
    let percents = steps(0.0, 10.0)
        .chain(steps(90.0, 1.0))
        .chain(steps(99.0, 0.1))
        .chain(steps(99.9, 0.01))
        .chain(steps(99.99, 0.001));
    // A percentile that less than one answer lies beyond is the maximum.
    let answers = float(all.len());
    let known = percents.filter(|percent| (1.0 - percent / 100.0) * answers >= 1.0).chain([100.0]);
    let latency = known.map(|percent| (percent, float(all.value_at_percentile(percent)) / 1e3));
    let piece = |moment: &crate::load::Moment| {
        let seconds = moment.length.as_secs_f64().max(1e-9);
        let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        Piece {
            until: moment.until.as_secs_f64(),
            rate: float(moment.answers) / seconds,
            errors: float(moment.errors) / seconds,
            p50: micros(moment.p50),
            p99: micros(moment.p99),
            max: micros(moment.max),
        }
    };
    Curve {
        latency: if all.is_empty() { Vec::new() } else { latency.collect() },
        over_time: figures.over_time.iter().map(piece).collect(),
        errors: figures.errors.iter().map(|(kind, count, text)| (kind.to_string(), count, text.to_owned())).collect(),
    }
}
