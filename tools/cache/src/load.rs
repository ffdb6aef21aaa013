//! The load: which keys, which values, in which order, and the loop that puts it on a cache.

use std::fmt::{self, Write};
use std::hint::black_box;
use std::time::{Duration, Instant};

use figures::random::shuffled;

use crate::Result;

/// Numbers of stores and reads in turn, of values of this size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mix {
    pub(crate) sets: u32,
    pub(crate) gets: u32,
    pub(crate) bytes: usize,
}

impl fmt::Display for Mix {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{} {} B", self.sets, self.gets, self.bytes)
    }
}

/// What one block of load came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Figure {
    pub(crate) operations: u64,
    pub(crate) seconds: f64,
    /// Reads that did not find the value, or one of another length.
    pub(crate) misses: u64,
}

impl Figure {
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn rate(&self) -> f64 {
        self.operations as f64 / self.seconds
    }

    pub(crate) fn nanos(&self) -> f64 {
        1e9 / self.rate()
    }
}

/// Keys of 36 characters in the form of a UUID, the same in each run.
///
/// They lie one after the other in the order in which they are read; they are stored in another, so that a cache that
/// puts entries side by side has them in random order, and reading the key itself costs nothing.
pub(crate) struct Keys {
    text: String,
    stored: Vec<usize>,
}

/// How long a key is.
const KEY: usize = 36;

impl Keys {
    pub(crate) fn new(count: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(36);
        let mut text = String::with_capacity(count * KEY);
        for _ in 0..count {
            let (high, low) = (random.u64(..), random.u64(..));
            let parts = [high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & 0xffff_ffff_ffff];
            let [one, two, three, four, five] = parts;
            write!(text, "{one:08x}-{two:04x}-{three:04x}-{four:04x}-{five:012x}").expect("a String takes all");
        }
        Self { text, stored: shuffled(&mut random, count) }
    }

    pub(crate) fn count(&self) -> usize {
        self.stored.len()
    }

    /// The one that is read at this place.
    #[inline]
    pub(crate) fn read(&self, place: usize) -> &str {
        &self.text[place * KEY..(place + 1) * KEY]
    }

    /// The one that is stored at this place.
    #[inline]
    pub(crate) fn stored(&self, place: usize) -> &str {
        self.read(self.stored[place])
    }

    /// In the order in which they are stored, a line each, for a program that is not ours.
    pub(crate) fn lines(&self) -> String {
        (0..self.count()).map(|place| self.stored(place).to_owned() + "\n").collect()
    }
}

/// A cache, called as its users call it.
pub(crate) trait Cache {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()>;

    /// How long the value was, after [`seen`] looked at it; `None` if the key is missing.
    async fn get(&mut self, key: &str) -> Result<Option<usize>>;
}

/// Touches every cache line of a value, as its reader would: a borrowed one would else cost nothing.
#[inline]
pub(crate) fn seen(value: &[u8]) -> usize {
    black_box(value.iter().step_by(64).fold(0, |sum, byte| sum ^ byte));
    value.len()
}

/// Where the loop is in the keys; it goes on from there in the next block.
#[derive(Default)]
pub(crate) struct KeyPosition {
    read: usize,
    stored: usize,
}

/// Stores every key once.
pub(crate) async fn fill(cache: &mut impl Cache, keys: &Keys, value: &[u8]) -> Result<()> {
    for place in 0..keys.count() {
        cache.set(keys.stored(place), value).await?;
    }
    Ok(())
}

/// The loop, for about `time`. The clock is read after each batch, and a batch grows until it takes a tenth of it.
pub(crate) async fn run(
    cache: &mut impl Cache,
    keys: &Keys,
    place: &mut KeyPosition,
    mix: Mix,
    time: Duration,
) -> Result<Figure> {
    let value = vec![b'v'; mix.bytes];
    let (mut batch, mut figure) = (1_u64, Figure::default());
    let start = Instant::now();
    loop {
        let before = start.elapsed();
        for _ in 0..batch {
            for _ in 0..mix.sets {
                cache.set(keys.stored(place.stored), &value).await?;
                place.stored = following(place.stored, keys.count());
            }
            for _ in 0..mix.gets {
                let found = cache.get(keys.read(place.read)).await?;
                figure.misses += u64::from(found != Some(mix.bytes));
                place.read = following(place.read, keys.count());
            }
        }
        figure.operations += batch * u64::from(mix.sets + mix.gets);
        let now = start.elapsed();
        if now >= time {
            figure.seconds = now.as_secs_f64();
            return Ok(figure);
        }
        if now.saturating_sub(before) * 20 < time {
            batch *= 2;
        }
    }
}

fn following(place: usize, count: usize) -> usize {
    if place + 1 == count { 0 } else { place + 1 }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;

    #[derive(Default)]
    struct Map(HashMap<String, Vec<u8>>, u64);

    impl Cache for Map {
        async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
            self.1 += 1;
            self.0.insert(key.to_owned(), value.to_owned());
            Ok(())
        }

        async fn get(&mut self, key: &str) -> Result<Option<usize>> {
            self.1 += 1;
            Ok(self.0.get(key).map(|value| seen(value)))
        }
    }

    #[test]
    fn keys_are_uuids_that_differ() {
        let keys = Keys::new(100);
        let read: BTreeSet<_> = (0..100).map(|place| keys.read(place)).collect();
        let stored: BTreeSet<_> = (0..100).map(|place| keys.stored(place)).collect();
        assert_eq!((read.len(), &read), (100, &stored));
        assert!(read.iter().all(|key| key.split('-').map(str::len).eq([8, 4, 4, 4, 12])));
        assert_eq!(keys.lines().lines().count(), 100);
    }

    #[tokio::test]
    async fn the_loop_counts_what_it_did_and_what_it_missed() {
        let (keys, mut map, mut place) = (Keys::new(10), Map::default(), KeyPosition::default());
        let mix = Mix { sets: 1, gets: 10, bytes: 16 };
        let time = Duration::from_millis(5);
        fill(&mut map, &keys, &[0; 16]).await.unwrap();
        let figure = run(&mut map, &keys, &mut place, mix, time).await.unwrap();
        assert_eq!(figure.operations, map.1 - 10);
        assert_eq!((figure.operations % 11, figure.misses), (0, 0));
        let others = Mix { sets: 0, bytes: 17, ..mix };
        let figure = run(&mut map, &keys, &mut place, others, time).await.unwrap();
        assert_eq!(figure.misses, figure.operations);
    }
}
