//! The lock of a shard, which nobody can take to the grave.
//!
//! One word: who holds it (16 bits), and a ticket that each holder counts up (48 bits). A holder who died is found out by
//! asking the system ([`Ground::lives`]), and the next one goes on where he stopped: every step of a write leaves the shard
//! sound (see [`shard`](super::shard)). A holder who lives and does not come back, because he was stopped, costs the others
//! [`PATIENCE`], and then the operation; after [`OVERDUE`] his lock is taken away. Should he wake up after that, he finds
//! that the ticket is not his when he is about to publish.
//!
//! Readers take no lock.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

use super::ground::Ground;
use super::layout::{LOCK, SUSPECT, SUSPECTED_AT};
use super::words::Words;

/// How long a write waits for another one, in milliseconds. A write takes about a microsecond, one of a megabyte a hundred.
const PATIENCE: u64 = 250;
/// When a lock is taken away from one who lives, in milliseconds.
const OVERDUE: u64 = 10_000;

const TICKETS: u64 = (1 << 48) - 1;

/// Another one held the shard all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// How the lock was got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It was free, now or soon.
    Free,
    /// Its holder is dead.
    Inherited,
    /// Its holder did not move for too long.
    Taken,
}

/// The lock is ours, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    word: &'a AtomicU64,
    mine: u64,
}

impl Held<'_> {
    /// Whether nobody has taken it away.
    #[inline]
    pub(crate) fn is_mine(&self) -> bool {
        self.word.load(Relaxed) == self.mine
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // If it was taken away there is nothing to give back.
        let _ = self.word.compare_exchange(self.mine, self.mine & TICKETS, Release, Relaxed);
    }
}

/// Waits for the lock of a shard, not for long.
#[inline]
pub(crate) fn lock<'a>(words: Words<'a>, ground: &impl Ground) -> Result<(Held<'a>, How), Busy> {
    let word = words.at(LOCK);
    let seen = word.load(Relaxed);
    if seen >> 48 == 0
        && let Some(held) = take(word, seen, ground)
    {
        return Ok((held, How::Free));
    }
    wait(words, ground)
}

fn take<'a>(word: &'a AtomicU64, seen: u64, ground: &impl Ground) -> Option<Held<'a>> {
    let mine = ground.me() << 48 | (seen + 1) & TICKETS;
    word.compare_exchange(seen, mine, AcqRel, Relaxed).is_ok().then_some(Held { word, mine })
}

#[cold]
fn wait<'a>(words: Words<'a>, ground: &impl Ground) -> Result<(Held<'a>, How), Busy> {
    let word = words.at(LOCK);
    let mut end = None;
    for round in 0_u64.. {
        let seen = word.load(Acquire);
        let how = match seen >> 48 {
            0 => Some(How::Free),
            // To ask the system costs a microsecond, so first see whether it was only a moment.
            holder if round % 64 == 63 && !ground.lives(holder) => Some(How::Inherited),
            _ => None,
        };
        if let Some(how) = how
            && let Some(held) = take(word, seen, ground)
        {
            return Ok((held, how));
        }
        pause(round);
        if round % 64 != 63 {
            continue;
        }
        let now = ground.millis();
        if now > *end.get_or_insert(now + PATIENCE) {
            return overdue(words, seen, now, ground);
        }
    }
    Err(Busy)
}

/// Yields to others at first, then sleeps a little.
fn pause(round: u64) {
    match round {
        0..32 => std::hint::spin_loop(),
        32..256 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}

/// Notes who let us wait; if it is noted since long, takes the lock away.
fn overdue<'a>(words: Words<'a>, seen: u64, now: u64, ground: &impl Ground) -> Result<(Held<'a>, How), Busy> {
    let since = words.load(SUSPECTED_AT);
    if words.load(SUSPECT) != seen || since > now {
        words.at(SUSPECTED_AT).store(now, Relaxed);
        words.at(SUSPECT).store(seen, Relaxed);
        return Err(Busy);
    }
    if now - since < OVERDUE {
        return Err(Busy);
    }
    take(words.at(LOCK), seen, ground).map(|held| (held, How::Taken)).ok_or(Busy)
}
