//! The leases: a small table in each shard, changed under the shard's lock.
//!
//! ```text
//! word 0   hash of the key
//! word 1   token
//! word 2   its end, in milliseconds since 1970
//! word 3   user
//! ```
//! A lease ends with its time or with its user. Hashes represent keys: if two keys computed at the same time share 64
//! bits, one waits for the other.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::words::Backing;
use crate::driver::Claim;

pub(crate) const WORDS: usize = 4;
pub(crate) const USER: usize = 3;

/// The table of a shard, and a word with a bit for each slot that is taken: a write that ends no lease reads only that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leases<'a> {
    pub(crate) taken: &'a AtomicU64,
    pub(crate) places: &'a [AtomicU64],
}

impl<'a> Leases<'a> {
    fn place(self, number: u32) -> Option<&'a [AtomicU64]> {
        self.places.chunks_exact(WORDS).nth(number as usize)
    }

    /// The numbers of the slots that are taken.
    fn taken(self) -> impl Iterator<Item = u32> {
        let bits = self.taken.load(Relaxed);
        (0..u64::BITS).filter(move |bit| bits != 0 && bits >> bit & 1 == 1)
    }

    fn of(self, hash: u64) -> Option<(u32, &'a [AtomicU64])> {
        let places = self.taken().filter_map(|number| Some((number, self.place(number)?)));
        places.into_iter().find(|(_, place)| place[0].load(Relaxed) == hash)
    }

    fn free(self, number: u32) {
        self.taken.fetch_and(!(1 << number), Relaxed);
    }

    /// Takes a lease, unless a live user has it and it has not expired. Fails if the table is full.
    pub(crate) fn take(self, hash: u64, claim: Claim, now: u64, backing: &impl Backing) -> bool {
        let is_over = |place: &[AtomicU64]| {
            let user = place[USER].load(Relaxed);
            place[2].load(Relaxed) <= now || user != backing.me() && !backing.lives(user)
        };
        let bits = self.taken.load(Relaxed);
        let is_free = |number: &u32| self.place(*number).is_some_and(|place| bits >> number & 1 == 0 || is_over(place));
        let number = match self.of(hash) {
            Some((number, place)) => Some(number).filter(|_| is_over(place)),
            None => (0..u64::BITS).find(is_free),
        };
        let Some((number, place)) = number.and_then(|number| Some((number, self.place(number)?))) else { return false };
        self.free(number);
        let numbers = [hash, claim.token.0, claim.until.millis(), backing.me()];
        place.iter().zip(numbers).for_each(|(word, number)| word.store(number, Relaxed));
        self.taken.fetch_or(1 << number, Release);
        true
    }

    pub(crate) fn holds(self, hash: u64, token: u64, now: u64) -> bool {
        let holds = |place: &[AtomicU64]| place[1].load(Relaxed) == token && place[2].load(Relaxed) > now;
        self.of(hash).is_some_and(|(_, place)| holds(place))
    }

    /// Ends the lease on a key, or only that of a token.
    #[inline]
    pub(crate) fn end(self, hash: u64, token: Option<u64>) {
        if self.taken.load(Relaxed) == 0 {
            return;
        }
        let is_meant = |place: &[AtomicU64]| token.is_none_or(|token| place[1].load(Relaxed) == token);
        if let Some((number, _)) = self.of(hash).filter(|(_, place)| is_meant(place)) {
            self.free(number);
        }
    }
}
