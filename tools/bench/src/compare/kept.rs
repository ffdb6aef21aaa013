//! A histogram as a record keeps it: in the form that `HdrHistogram` has for it, which other programs read.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Latencies in nanoseconds: version 2, deflated, in base64.
///
/// See [`Variant`](super::Variant).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredHistogram(String);

impl StoredHistogram {
    pub(crate) fn of(histogram: &Histogram<u64>) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
        written.map_err(|error| format!("a histogram cannot be kept: {error}"))?;
        Ok(Self(BASE64_STANDARD.encode(bytes)))
    }

    /// What was kept. See [`StoredHistogram`].
    pub fn histogram(&self) -> Result<Histogram<u64>, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("a histogram of the record cannot be read: {error}");
        let bytes = BASE64_STANDARD.decode(&self.0).map_err(|error| wrong(&error))?;
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| wrong(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_what_was_measured() {
        let mut histogram = crate::load::histogram();
        for value in [1, 1000, 1000, 5_000_000, 3_000_000_000] {
            histogram.record(value).unwrap();
        }
        let kept = StoredHistogram::of(&histogram).unwrap();
        assert!(kept.0.starts_with("HISTFAAA"), "{}", kept.0);
        assert_eq!(kept.histogram().unwrap(), histogram);
        assert!(
            StoredHistogram("HISTFAAA".into()).histogram().unwrap_err().starts_with("a histogram of the record cannot")
        );
    }
}
