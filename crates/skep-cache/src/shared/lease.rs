//! Who computes which value at the moment: a small table in each shard, changed under the shard's lock.
//!
//! ```text
//! word 0   hash of the key
//! word 1   token
//! word 2   when it ends, in milliseconds since 1970
//! word 3   user
//! ```
//! A lease ends with its time or with its user. Hashes stand for keys: should two keys that are computed at the same moment
//! share 64 bits, one waits for the other.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::ground::Ground;

/// Words of a place.
pub(crate) const WORDS: usize = 4;
/// Which of them is the user.
pub(crate) const USER: usize = 3;

/// The table of a shard, and the word that says by its bits which places are taken: a write that ends no lease looks no
/// further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leases<'a> {
    pub(crate) taken: &'a AtomicU64,
    pub(crate) places: &'a [AtomicU64],
}

/// Who wants a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) hash: u64,
    pub(crate) token: u64,
    pub(crate) until: u64,
}

impl<'a> Leases<'a> {
    fn place(self, number: u32) -> Option<&'a [AtomicU64]> {
        self.places.chunks_exact(WORDS).nth(number as usize)
    }

    /// The numbers of the places that are taken.
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

    /// Takes a lease, if nobody has it whose time has not ended and who lives. A full table is as if somebody had it.
    pub(crate) fn take(self, wish: Wish, now: u64, ground: &impl Ground) -> bool {
        let is_over = |place: &[AtomicU64]| {
            let user = place[USER].load(Relaxed);
            place[2].load(Relaxed) <= now || user != ground.me() && !ground.lives(user)
        };
        let bits = self.taken.load(Relaxed);
        let is_free = |number: &u32| self.place(*number).is_some_and(|place| bits >> number & 1 == 0 || is_over(place));
        let number = match self.of(wish.hash) {
            Some((number, place)) => Some(number).filter(|_| is_over(place)),
            None => (0..u64::BITS).find(is_free),
        };
        let Some((number, place)) = number.and_then(|number| Some((number, self.place(number)?))) else { return false };
        self.free(number);
        let numbers = [wish.hash, wish.token, wish.until, ground.me()];
        place.iter().zip(numbers).for_each(|(word, number)| word.store(number, Relaxed));
        self.taken.fetch_or(1 << number, Release);
        true
    }

    /// Whether this token's lease still holds.
    pub(crate) fn holds(self, hash: u64, token: u64, now: u64) -> bool {
        let holds = |place: &[AtomicU64]| place[1].load(Relaxed) == token && place[2].load(Relaxed) > now;
        self.of(hash).is_some_and(|(_, place)| holds(place))
    }

    /// Ends the lease on a key, whoever has it, or only that of a token.
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
