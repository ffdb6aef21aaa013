//! What is measured, its unit, and which direction is the better one.

use serde::{Deserialize, Serialize};

use crate::number::{bytes, digits, thousands, time, whole};

/// What is measured.
///
/// ```
/// use skep_bench::compare::Measure;
///
/// assert_eq!(Measure::Rate.show(123_456.0), "123 456");
/// assert!(!Measure::P99.more_is_better());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are what `name` says")]
pub enum Measure {
    Rate,
    Bytes,
    P50,
    P90,
    P99,
    P999,
    P9999,
    Max,
    Cpu,
    User,
    System,
    Memory,
    Switches,
    Errors,
    Unanswered,
    LoadCore,
    Start,
    Swap,
    AfterSwap,
}

/// All of them, in the order in which they are shown.
const ALL: [Measure; 19] = [
    Measure::Rate,
    Measure::Bytes,
    Measure::P50,
    Measure::P90,
    Measure::P99,
    Measure::P999,
    Measure::P9999,
    Measure::Max,
    Measure::Cpu,
    Measure::User,
    Measure::System,
    Measure::Memory,
    Measure::Switches,
    Measure::Errors,
    Measure::Unanswered,
    Measure::LoadCore,
    Measure::Start,
    Measure::Swap,
    Measure::AfterSwap,
];

impl Measure {
    /// All of them. See [`Measure`].
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// Its name in records, flags and CSV. See [`Measure`].
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Bytes => "bytes",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::P9999 => "p9999",
            Self::Max => "max",
            Self::Cpu => "cpu",
            Self::User => "user",
            Self::System => "system",
            Self::Memory => "memory",
            Self::Switches => "switches",
            Self::Errors => "errors",
            Self::Unanswered => "unanswered",
            Self::LoadCore => "load_core",
            Self::Start => "start",
            Self::Swap => "swap",
            Self::AfterSwap => "after_swap",
        }
    }

    /// The measure of this key. See [`Measure`].
    pub fn of_key(key: &str) -> Result<Self, String> {
        let keys = || ALL.iter().map(|measure| measure.key()).collect::<Vec<_>>().join(", ");
        ALL.into_iter()
            .find(|measure| measure.key() == key)
            .ok_or_else(|| format!("nothing is measured as \"{key}\"; there are {}", keys()))
    }

    /// Its name for a person. See [`Measure`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "per second",
            Self::Bytes => "bytes/s",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::P9999 => "p99.99",
            Self::Max => "max",
            Self::Cpu => "CPU us/request",
            Self::User => "user us",
            Self::System => "system us",
            Self::Memory => "PSS MB",
            Self::Switches => "switches/request",
            Self::Errors => "errors",
            Self::Unanswered => "unanswered",
            Self::LoadCore => "load's core",
            Self::Start => "start to first answer",
            Self::Swap => "swap",
            Self::AfterSwap => "first answer after it",
        }
    }

    /// Whether a larger figure is the better one. See [`Measure`].
    #[must_use]
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Rate | Self::Bytes)
    }

    /// A figure, with its unit unless the name has it. Times are in microseconds. See [`Measure`].
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Bytes => bytes(value),
            Self::P50
            | Self::P90
            | Self::P99
            | Self::P999
            | Self::P9999
            | Self::Max
            | Self::Start
            | Self::Swap
            | Self::AfterSwap => time(whole(value * 1e3)),
            Self::Rate | Self::Cpu | Self::User | Self::System | Self::Memory | Self::Switches => digits(value),
            Self::Errors | Self::Unanswered => thousands(value),
            Self::LoadCore => format!("{:.0} %", value * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_found_by_its_key_and_a_record_says_the_same() {
        for measure in Measure::all() {
            assert_eq!(Measure::of_key(measure.key()), Ok(measure));
            assert_eq!(serde_json::to_string(&measure).unwrap(), format!("\"{}\"", measure.key()));
        }
        assert!(Measure::of_key("speed").unwrap_err().contains("rate, bytes"));
    }
}
