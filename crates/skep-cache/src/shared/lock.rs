//! The lock of a shard, which survives the death of its holder.
//!
//! One word: the holder (16 bits) and a ticket that each holder increments (48 bits). If the holder died
//! ([`Backing::lives`]), the next one takes the lock: every step of a write leaves the shard consistent (see
//! [`shard`](super::shard)). If the holder is alive but stopped, others wait for [`TIMEOUT`] and fail; after
//! [`OVERDUE`] the lock is taken from it. If it continues after that, it notices the other ticket before it publishes.
//!
//! Readers take no lock.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

use super::layout::{LOCK, SUSPECT, SUSPECTED_AT};
use super::ring::Fault;
use super::words::{Backing, Words};

/// How long a write waits for another one, in milliseconds. A write takes about a microsecond, one of a megabyte a
/// hundred.
const TIMEOUT: u64 = 250;
/// When a lock is taken from a live holder, in milliseconds.
const OVERDUE: u64 = 10_000;

const TICKETS: u64 = (1 << 48) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acquired {
    /// It was free or released in time.
    Free,
    /// Its holder is dead.
    Inherited,
    /// Its holder hung.
    Taken,
}

/// Holds the lock until dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    word: &'a AtomicU64,
    mine: u64,
}

impl Held<'_> {
    /// Whether it was not taken away.
    #[inline]
    pub(crate) fn is_mine(&self) -> bool {
        self.word.load(Relaxed) == self.mine
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Fails if it was taken away.
        let _ = self.word.compare_exchange(self.mine, self.mine & TICKETS, Release, Relaxed);
    }
}

#[inline]
pub(crate) fn lock<'a>(words: Words<'a>, backing: &impl Backing) -> Result<(Held<'a>, Acquired), Fault> {
    let word = words.at(LOCK);
    let seen = word.load(Relaxed);
    if seen >> 48 == 0
        && let Some(held) = take(word, seen, backing)
    {
        return Ok((held, Acquired::Free));
    }
    wait(words, backing)
}

fn take<'a>(word: &'a AtomicU64, seen: u64, backing: &impl Backing) -> Option<Held<'a>> {
    let mine = backing.me() << 48 | (seen + 1) & TICKETS;
    // Not `then_some`: a `Held` that is made in vain would release, when it is dropped, what another thread of ours has
    // taken with this number.
    word.compare_exchange(seen, mine, AcqRel, Relaxed).is_ok().then(|| Held { word, mine })
}

#[cold]
fn wait<'a>(words: Words<'a>, backing: &impl Backing) -> Result<(Held<'a>, Acquired), Fault> {
    let word = words.at(LOCK);
    let mut end = None;
    for round in 0_u64.. {
        let seen = word.load(Acquire);
        let how = match seen >> 48 {
            0 => Some(Acquired::Free),
            // Asking the system costs a microsecond, so spin first.
            holder if round % 64 == 63 && !backing.lives(holder) => Some(Acquired::Inherited),
            _ => None,
        };
        if let Some(how) = how
            && let Some(held) = take(word, seen, backing)
        {
            return Ok((held, how));
        }
        pause(round);
        if round % 64 != 63 {
            continue;
        }
        let now = backing.millis();
        if now > *end.get_or_insert(now + TIMEOUT) {
            return overdue(words, seen, now, backing);
        }
    }
    Err(Fault::Busy)
}

fn pause(round: u64) {
    match round {
        0..32 => std::hint::spin_loop(),
        32..256 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}

/// Notes the holder; if it was noted long ago, takes the lock.
fn overdue<'a>(words: Words<'a>, seen: u64, now: u64, backing: &impl Backing) -> Result<(Held<'a>, Acquired), Fault> {
    let since = words.load(SUSPECTED_AT);
    if words.load(SUSPECT) != seen || since > now {
        words.at(SUSPECTED_AT).store(now, Relaxed);
        words.at(SUSPECT).store(seen, Relaxed);
        return Err(Fault::Busy);
    }
    if now - since < OVERDUE {
        return Err(Fault::Busy);
    }
    take(words.at(LOCK), seen, backing).map(|held| (held, Acquired::Taken)).ok_or(Fault::Busy)
}
