//! Unit tests of `metrics::histogram`.

use super::*;

#[test]
fn each_latency_is_within_the_bounds_of_its_bucket() {
    for micros in (1..5000).chain((1..26).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])) {
        let nanos = micros * 1000;
        let bucket = bucket(nanos);
        let upper = bound(bucket).unwrap();
        assert!(micros <= upper, "{micros} us is above {upper} of bucket {bucket}");
        if bucket > 0 {
            let lower = bound(bucket - 1).unwrap();
            assert!(lower < micros, "{micros} us is not above {lower} of bucket {bucket}");
            assert!(upper - lower <= lower.div_ceil(4), "bucket {bucket} is too wide");
        }
    }
    assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    assert_eq!(bucket(0), 0);
}

#[test]
fn a_bound_of_prometheus_counts_what_is_within_it() {
    let mut histogram = Histogram::default();
    for micros in [64, 65, 128, 129, 70_000_000] {
        histogram.add_to(bucket(micros * 1000), 1);
    }
    let cumulative: Vec<_> = histogram.cumulative().collect();
    assert_eq!(cumulative[..3], [(64, 1), (128, 3), (256, 4)]);
    assert_eq!(*cumulative.last().unwrap(), (1 << 24, 4));
    assert_eq!(histogram.count(), 5);
}

#[test]
fn quantiles_are_upper_bounds_and_none_without_requests() {
    let mut histogram = Histogram::default();
    assert_eq!(histogram.quantile(0.5), None);
    for _ in 0..99 {
        histogram.add_to(bucket(1_000_000), 1);
    }
    let earlier = histogram.clone();
    histogram.add_to(bucket(3_000_000_000), 1);
    let close = |part: f64, micros: u64| {
        let found = histogram.quantile(part).unwrap();
        let real = Duration::from_micros(micros);
        assert!(real <= found && found <= real * 5 / 4, "{part}: {found:?}");
    };
    close(0.5, 1000);
    close(0.99, 1000);
    close(1.0, 3_000_000);
    assert_eq!(histogram.since(&earlier).count(), 1);
}
