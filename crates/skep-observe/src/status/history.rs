//! The file of 24 hours: a ring of samples, one for each ten seconds, which survives restarts and swaps.
//!
//! A sample says when it was taken, so one that is older than a day counts as none, and so does one that was never
//! written. Each is written at once, in its place: a process that is killed loses at most the last one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use super::observer::Observation;
use crate::metrics::Counter;

/// How long a sample takes.
pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// The samples of a day.
const SAMPLES: u64 = 24 * 3600 / INTERVAL.as_secs();

const FILE: &str = "status.history";
/// Changes with the format; a file of an old format is replaced by an empty one.
const MAGIC: &[u8; 16] = b"skep history 1\n\0";
const NUMBERS: usize = 16;
const SAMPLE: usize = NUMBERS * 4;

/// The file. It has 540 KiB.
#[derive(Debug)]
pub(crate) struct History {
    file: File,
}

/// What happened in ten seconds, or was so at their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Seconds since 1970, in tens.
    pub(crate) stamp: u32,
    /// How long it really was, in milliseconds.
    pub(crate) millis: u32,
    pub(crate) requests: u32,
    pub(crate) client_errors: u32,
    pub(crate) server_errors: u32,
    /// Latencies in microseconds; 0 without requests.
    pub(crate) p50: u32,
    pub(crate) p99: u32,
    pub(crate) connections: u32,
    pub(crate) running: u32,
    pub(crate) memory_kib: u32,
    /// Milliseconds of processor time, of all processes.
    pub(crate) cpu: u32,
    pub(crate) cache_hits: u32,
    pub(crate) cache_misses: u32,
    pub(crate) statements: u32,
    pub(crate) crashes: u32,
    pub(crate) swaps: u32,
}

impl History {
    /// The file in the data directory, which is made if it is missing.
    pub(crate) fn open(data: &Path) -> io::Result<Self> {
        let path = data.join(FILE);
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        let mut magic = [0; MAGIC.len()];
        if file.read_exact_at(&mut magic, 0).is_err() || magic != *MAGIC {
            file.set_len(0)?;
            file.write_all_at(MAGIC, 0)?;
        }
        Ok(Self { file })
    }

    pub(crate) fn write(&self, sample: &Sample) -> io::Result<()> {
        let bytes: Vec<u8> = sample.to_numbers().iter().flat_map(|number| number.to_le_bytes()).collect();
        let place = u64::from(sample.stamp) % SAMPLES;
        self.file.write_all_at(&bytes, MAGIC.len() as u64 + place * SAMPLE as u64)
    }

    /// The samples of this long before a time in seconds since 1970, the oldest first.
    pub(crate) fn read(&self, now: u64, span: Duration) -> io::Result<Vec<Sample>> {
        let mut bytes = vec![0; usize::try_from(SAMPLES).unwrap_or(0) * SAMPLE];
        let mut length = 0;
        while length < bytes.len() {
            match self.file.read_at(&mut bytes[length..], (MAGIC.len() + length) as u64)? {
                0 => break,
                count => length += count,
            }
        }
        let last = now / INTERVAL.as_secs();
        let first = last.saturating_sub((span.as_secs() / INTERVAL.as_secs()).min(SAMPLES - 1));
        let in_range = |sample: &Sample| (first..=last).contains(&u64::from(sample.stamp));
        let mut samples: Vec<Sample> = bytes.chunks_exact(SAMPLE).map(Sample::from_bytes).filter(in_range).collect();
        samples.sort_by_key(|sample| sample.stamp);
        Ok(samples)
    }
}

impl Sample {
    /// What happened between two observations.
    pub(crate) fn between(before: &Observation, now: &Observation) -> Self {
        let requests = now.requests_since(before);
        let micros = |part| requests.quantile(part).map_or(0, |time| small(time.as_micros()));
        let cache = |of: fn(&super::observer::CacheFigures) -> u64| {
            let sum = |observation: &Observation| observation.caches.iter().map(of).sum::<u64>();
            small(sum(now).saturating_sub(sum(before)).into())
        };
        let cpu = |observation: &Observation| observation.cpu.iter().sum::<u64>();
        Self {
            stamp: small((now.at / 1000 / INTERVAL.as_secs()).into()),
            millis: small(now.at.saturating_sub(before.at).into()),
            requests: small(requests.count().into()),
            client_errors: small(requests.with_outcome("4xx").into()),
            server_errors: small(requests.with_outcome("5xx").into()),
            p50: micros(0.5),
            p99: micros(0.99),
            connections: small(now.overview.connections().into()),
            running: small(now.overview.running().into()),
            memory_kib: small((now.memory() >> 10).into()),
            cpu: small(cpu(now).saturating_sub(cpu(before)).into()),
            cache_hits: cache(|figures| figures.hits),
            cache_misses: cache(|figures| figures.misses),
            statements: small(now.counted_since(before, Counter::Statements).into()),
            crashes: small(now.overview.crashes.saturating_sub(before.overview.crashes).into()),
            swaps: small(now.overview.swaps.saturating_sub(before.overview.swaps).into()),
        }
    }

    fn to_numbers(self) -> [u32; NUMBERS] {
        let Self { stamp, millis, requests, client_errors, server_errors, p50, p99, connections, .. } = self;
        let Self { running, memory_kib, cpu, cache_hits, cache_misses, statements, crashes, swaps, .. } = self;
        [
            stamp,
            millis,
            requests,
            client_errors,
            server_errors,
            p50,
            p99,
            connections,
            running,
            memory_kib,
            cpu,
            cache_hits,
            cache_misses,
            statements,
            crashes,
            swaps,
        ]
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number));
        let mut next = || numbers.next().unwrap_or(0);
        Self {
            stamp: next(),
            millis: next(),
            requests: next(),
            client_errors: next(),
            server_errors: next(),
            p50: next(),
            p99: next(),
            connections: next(),
            running: next(),
            memory_kib: next(),
            cpu: next(),
            cache_hits: next(),
            cache_misses: next(),
            statements: next(),
            crashes: next(),
            swaps: next(),
        }
    }
}

fn small(number: u128) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "../../tests/unit/status/history.rs"]
mod tests;
