//! What one operation costs in this process: drivers of the cache, and events of the log.
//!
//! Variants are measured in blocks, in rounds, each round in another order, as servers are.

mod cache;
mod log;

use std::time::{Duration, Instant};

pub(crate) use cache::{Backends, Mix, run as cache};
pub use log::LogSink;
pub(crate) use log::run as log;

use crate::compare::{Measure, Rounds, Sample, Variant};
use crate::interrupt;
use crate::number::float;
use crate::random::Random;

/// How rounds are played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Play {
    pub(crate) rounds: usize,
    /// How long each figure takes.
    pub(crate) time: Duration,
    /// Whose orders it repeats.
    pub(crate) seed: Option<u64>,
}

/// Something to do so many times. How often something went wrong.
pub(crate) type Work<'a> = Box<dyn FnMut(u64) -> Result<u64, String> + 'a>;

/// Measures each, in rounds.
pub(crate) fn play(name: &str, works: &mut [(String, Work<'_>)], play: Play) -> Result<Rounds, String> {
    let mut rounds = Rounds::new(name, works.iter().map(|(name, _)| Variant::new(name.as_str(), "in this process")));
    let mut random = play.seed.map_or_else(Random::from_clock, Random::from_seed);
    let mut batches = Vec::new();
    for (name, work) in works.iter_mut() {
        // Warm, and so many that reading the clock does not matter.
        let batch = fitting(work).map_err(|error| format!("{name}: {error}"))?;
        batches.push(batch);
    }
    for _ in 0..play.rounds {
        let order = random.order(works.len());
        let mut samples = vec![Sample::new(); works.len()];
        for &place in &order {
            if interrupt::is_asked() {
                return Err("ended by a signal".into());
            }
            let (name, work) = &mut works[place];
            samples[place] = turn(work, batches[place], play.time).map_err(|error| format!("{name}: {error}"))?;
        }
        rounds.push(order, samples);
    }
    Ok(rounds)
}

/// How many take about a millisecond.
fn fitting(work: &mut Work<'_>) -> Result<u64, String> {
    let mut count = 1;
    loop {
        let begun = Instant::now();
        work(count)?;
        if begun.elapsed() >= Duration::from_millis(1) || count >= 1 << 24 {
            return Ok(count);
        }
        count *= 2;
    }
}

fn turn(work: &mut Work<'_>, batch: u64, time: Duration) -> Result<Sample, String> {
    let begun = Instant::now();
    let (mut done, mut errors) = (0, 0);
    while begun.elapsed() < time {
        errors += work(batch)?;
        done += batch;
    }
    let rate = float(done) / begun.elapsed().as_secs_f64();
    Ok(Sample::from([(Measure::Rate, rate), (Measure::Errors, float(errors))]))
}
