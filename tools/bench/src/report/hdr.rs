//! Latencies in `HdrHistogram`'s own formats: percentiles as its plotter and wrk2 have them, and its log.

use std::fmt::Write;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::number::float;

/// Lines for each halving of what is above.
const TICKS: u32 = 5;

/// Nanoseconds in the unit of both formats, a millisecond.
const UNIT: f64 = 1e6;

/// `Value Percentile TotalCount 1/(1-Percentile)`, values in milliseconds.
pub(super) fn percentiles(histogram: &Histogram<u64>) -> String {
    let mut out = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut count = 0;
    for step in histogram.iter_quantiles(TICKS) {
        count += step.count_since_last_iteration();
        let (value, quantile) = (float(step.value_iterated_to()) / UNIT, step.quantile_iterated_to());
        let _ = write!(out, "{value:12.3} {quantile:2.12} {count:10}");
        let _ = if quantile < 1.0 { writeln!(out, " {:14.2}", 1.0 / (1.0 - quantile)) } else { writeln!(out) };
    }
    let (mean, deviation) = (histogram.mean() / UNIT, histogram.stdev() / UNIT);
    let _ = writeln!(out, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]");
    let _ =
        writeln!(out, "#[Max     = {:12.3}, Total count    = {:12}]", float(histogram.max()) / UNIT, histogram.len());
    let (buckets, within) = (histogram.buckets(), 2 * 10_u32.pow(u32::from(histogram.sigfig())));
    let _ = writeln!(out, "#[Buckets = {buckets:12}, SubBuckets     = {:12}]", within.next_power_of_two());
    out
}

/// A line for each histogram, with its name as tag. Values in nanoseconds, their maximum in milliseconds.
pub(super) fn log(histograms: &[(String, Histogram<u64>)], length: Duration) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("skep bench: values in nanoseconds, a line for each variant").with_max_value_divisor(UNIT);
    let log = builder.begin_log_with(&mut out, &mut serializer);
    let mut log = log.map_err(|error| error.to_string())?;
    for (name, histogram) in histograms {
        let written = log.write_histogram(histogram, Duration::ZERO, length, Tag::new(name));
        written.map_err(|error| format!("{name}: {error:?}"))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn histogram() -> Histogram<u64> {
        let mut histogram = crate::load::histogram();
        for millis in 1..=1000 {
            histogram.record(millis * 1_000_000).unwrap();
        }
        histogram
    }

    #[test]
    fn percentiles_are_those_of_the_histogram() {
        let text = percentiles(&histogram());
        let row = |quantile: &str| {
            let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(quantile)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        // A value is the upper end of its bucket: half of all are at most 500 ms and a little.
        assert_eq!(row("0.500000000000"), ["500.171", "0.500000000000", "500", "2.00"]);
        assert_eq!(row("1.000000000000"), ["1000.342", "1.000000000000", "1000"]);
        assert!(text.ends_with("SubBuckets     =         2048]\n") && text.contains("Total count    =         1000]"));
    }

    #[test]
    fn a_log_is_read_again_by_its_library() {
        let bytes = log(&[("a-b".into(), histogram())], Duration::from_secs(3)).unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&bytes).map(Result::unwrap).collect();
        let [LogEntry::Interval(interval)] = entries.as_slice() else { panic!("{entries:?}") };
        assert_eq!((interval.tag().unwrap().as_str(), interval.duration()), ("a-b", Duration::from_secs(3)));
        assert!((interval.max() - 1000.0).abs() < 1.0, "{}", interval.max());
    }
}
