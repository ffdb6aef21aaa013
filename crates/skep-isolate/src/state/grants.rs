//! What an application may use: nothing that is not configured.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rand_core::TryRng;
use skep_server::outgoing::Reach;
use wasmtime_wasi::{Deterministic, FsPerms, HostMonotonicClock, HostWallClock, WasiCtx};

use crate::clock::Clock;
use crate::hash::Hash;
use crate::reuse::Reuse;
use crate::services::{Current, Version};

use super::TotalMemory;
use super::output::{Output, Stream};

/// What the instances of an application may use.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    /// The clock of deadlines.
    pub(crate) clock: Arc<Clock>,
    /// The application's name, for the log.
    pub(crate) name: String,
    /// The most memory of an instance, in bytes.
    pub(crate) memory: usize,
    /// What all instances of the server share.
    pub(crate) total_memory: TotalMemory,
    /// The most requests and the longest idle time of an instance that keeps its state.
    pub(crate) reuse: Reuse,
    /// Environment variables.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) dirs: Vec<Dir>,
    /// Where it may send requests to.
    pub(crate) allow_out: Arc<Reach>,
    /// Its database, caches and keys.
    pub(crate) version: Option<Arc<Version>>,
    /// Nothing may change: no jobs run.
    pub(crate) is_check: bool,
}

/// A folder that guests see under a path of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dir {
    pub(crate) host: PathBuf,
    pub(crate) guest: String,
    pub(crate) may_write: bool,
}

impl Grants {
    pub(super) fn wasi(self: &Arc<Self>, frozen: Option<&Arc<Frozen>>, request: &Current) -> WasiCtx {
        let mut wasi = WasiCtx::builder();
        wasi.stdout(Output::new(self, Stream::Out, request)).stderr(Output::new(self, Stream::Error, request));
        // Tells a component of Skep which host it has: `wit/skep.wit`.
        wasi.env("SKEP_HOST", env!("CARGO_PKG_VERSION")).envs(&self.env);
        for dir in &self.dirs {
            let may = if dir.may_write { FsPerms::ReadWrite } else { FsPerms::ReadOnly };
            // It existed at the start. If it is gone, the guest finds nothing there.
            if let Err(error) = wasi.preopened_dir(&dir.host, &dir.guest, may) {
                tracing::warn!(target: "skep::isolate", app = self.name, dir = %dir.host.display(), "{error:#}");
            }
        }
        if let Some(frozen) = frozen {
            wasi.wall_clock(Still(Arc::clone(frozen)))
                .monotonic_clock(Still(Arc::clone(frozen)))
                .secure_random(Noted(Arc::clone(frozen)))
                .insecure_random(Deterministic::new(frozen.seed.to_le_bytes().to_vec()))
                // Start-up code seeds with it. The same number at each start makes the same image.
                .insecure_random_seed(frozen.seed);
        }
        wasi.build()
    }

    /// Tells instances which version they belong to, if they share caches with other versions.
    pub(crate) fn build(&self, content: &Hash) -> Option<(String, String)> {
        self.version.is_some().then(|| ("SKEP_BUILD".to_owned(), content.number().to_string()))
    }
}

/// Uses of what an image would freeze for all requests.
#[derive(Debug, Default)]
pub(crate) struct Frozen {
    asked: AtomicU8,
    /// The seed of hash maps and the like. The application's own code can see it, and nobody else.
    seed: u128,
}

impl Frozen {
    pub(crate) const CLOCK: u8 = 1;
    pub(crate) const RANDOM: u8 = 2;
    pub(crate) const NETWORK: u8 = 4;

    pub(crate) fn new(seed: u128) -> Self {
        Self { asked: AtomicU8::new(0), seed }
    }

    pub(crate) fn note(&self, what: u8) {
        self.asked.fetch_or(what, Ordering::Relaxed);
    }

    /// The names of what was used.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        let noted = self.asked.load(Ordering::Relaxed);
        let words = [
            (Self::CLOCK, "the time"),
            (Self::RANDOM, "secure random numbers"),
            (Self::NETWORK, "another server over the network"),
        ];
        words.iter().filter(|(bit, _)| noted & bit != 0).map(|(_, word)| *word).collect()
    }
}

/// A frozen clock.
struct Still(Arc<Frozen>);

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        self.0.note(Frozen::CLOCK);
        Duration::ZERO
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        self.0.note(Frozen::CLOCK);
        0
    }
}

/// Random numbers that are always 0.
struct Noted(Arc<Frozen>);

impl TryRng for Noted {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.note(Frozen::RANDOM);
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.note(Frozen::RANDOM);
        Ok(0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.note(Frozen::RANDOM);
        bytes.fill(0);
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/state/grants.rs"]
mod tests;
