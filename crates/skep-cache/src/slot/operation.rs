//! Atomic operations on the bytes of a key, decided in this process.

use bytes::Bytes;

use crate::clock::Time;
use crate::driver::{self, Claim, Entry, Header, Record, Removal, Token, When};
use crate::error::Result;

use super::{LEASE_LEN, entry_at, lease_bytes};

/// The parsed bytes of a key.
#[derive(Clone, Copy)]
struct Slot<'a> {
    lease: Option<Claim>,
    entry: Option<Entry<'a>>,
}

/// When the bytes of a key may be dropped; `None`, if they are invalid, is now.
#[cfg(feature = "file")]
pub(crate) fn ends(bytes: &[u8]) -> Option<Time> {
    let slot = Slot::parse(bytes, Time::from_millis(0));
    slot.entry.map(|entry| entry.dead_at()).max(slot.lease.map(|lease| lease.until))
}

impl<'a> Slot<'a> {
    /// The lease and the entry that exist `now`. Invalid bytes are ignored: the next write overwrites them.
    fn parse(bytes: &'a [u8], now: Time) -> Self {
        let (head, rest) = bytes.split_at(entry_at(bytes));
        let number = |at| u64::from_le_bytes(head[at..at + 8].try_into().expect("8 bytes"));
        let lease = (head.len() == LEASE_LEN)
            .then(|| Claim { token: Token(number(1)), until: Time::from_millis(number(9)) })
            .filter(|lease| lease.until > now);
        let entry = Entry::parse(rest).ok().filter(|entry| entry.exists(now));
        Self { lease, entry }
    }

    fn live(&self, now: Time) -> Option<Entry<'a>> {
        self.entry.filter(|entry| entry.is_live(now))
    }
}

/// An atomic operation on a key.
#[derive(Clone)]
pub(crate) enum Operation {
    Set(Record, When),
    Remove(Removal),
    Lease(Claim),
    Release(Token),
    Increment(i64, Record),
    Touch { fresh_until: Time, dead_at: Time },
}

/// What happens to the bytes of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    Keep,
    Drop,
    Put(Stored),
}

/// The new bytes of a key.
#[derive(Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) lease: Option<[u8; LEASE_LEN]>,
    pub(crate) entry: Bytes,
    /// When they expire.
    pub(crate) ends: Time,
}

impl Stored {
    pub(crate) fn plain(record: &Record) -> Self {
        Self { lease: None, entry: record.bytes().clone(), ends: record.entry().dead_at() }
    }

    /// Lease and entry, to be written one after the other.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [self.lease.as_ref().map_or(&[], |lease| &lease[..]), &self.entry]
    }

    /// Lease and entry in one piece.
    #[cfg(feature = "sqlite")]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

/// The result for the caller.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Done(bool),
    Lease(Option<Token>),
    Sum(i64),
}

impl Outcome {
    pub(crate) fn done(self) -> bool {
        matches!(self, Self::Done(true))
    }

    pub(crate) fn lease(self) -> Option<Token> {
        if let Self::Lease(token) = self { token } else { None }
    }

    /// The sum; only an [`Operation::Increment`] has one.
    pub(crate) fn sum(self) -> i64 {
        if let Self::Sum(sum) = self { sum } else { 0 }
    }
}

impl Operation {
    /// The change of a key that holds these bytes (`&[]` for none), and the result.
    pub(crate) fn apply(&self, bytes: &[u8], now: Time) -> Result<(Change, Outcome)> {
        let slot = Slot::parse(bytes, now);
        Ok(match self {
            Self::Set(record, when) => set(slot, record, *when, now),
            Self::Remove(removal) => (remove(slot, *removal, now), Outcome::Done(slot.live(now).is_some())),
            Self::Lease(claim) => lease(slot, *claim),
            Self::Release(token) => (release(slot, *token), Outcome::Done(true)),
            Self::Increment(by, fresh) => {
                let found = slot.live(now).map(|entry| entry.to_record());
                let (record, sum, _) = driver::count(found.as_ref(), *by, fresh)?;
                (put(&record, now), Outcome::Sum(sum))
            }
            Self::Touch { fresh_until, dead_at } => match slot.live(now) {
                None => (Change::Keep, Outcome::Done(false)),
                Some(entry) => {
                    let header = Header { fresh_until: *fresh_until, dead_at: *dead_at, ..entry.header() };
                    let touched = entry.with_header(&header);
                    (hold(slot.lease, Some(touched.entry())), Outcome::Done(true))
                }
            },
        })
    }
}

fn set(slot: Slot<'_>, record: &Record, when: When, now: Time) -> (Change, Outcome) {
    let may = match when {
        When::Leased(token) => slot.lease.is_some_and(|lease| lease.token == token),
        _ => driver::may_replace(when, record.entry().version(), slot.entry, now),
    };
    (if may { put(record, now) } else { Change::Keep }, Outcome::Done(may))
}

/// A write ends the lease; a dead entry is stored by storing nothing.
fn put(record: &Record, now: Time) -> Change {
    if record.entry().exists(now) { Change::Put(Stored::plain(record)) } else { Change::Drop }
}

fn remove(slot: Slot<'_>, removal: Removal, now: Time) -> Change {
    if removal.until <= now {
        Change::Drop
    } else {
        Change::Put(Stored::plain(&driver::tombstone(removal, slot.entry)))
    }
}

fn lease(slot: Slot<'_>, claim: Claim) -> (Change, Outcome) {
    match slot.lease {
        Some(_) => (Change::Keep, Outcome::Lease(None)),
        None => (hold(Some(claim), slot.entry), Outcome::Lease(Some(claim.token))),
    }
}

fn release(slot: Slot<'_>, token: Token) -> Change {
    match slot.lease {
        Some(lease) if lease.token == token => hold(None, slot.entry),
        _ => Change::Keep,
    }
}

fn hold(lease: Option<Claim>, entry: Option<Entry<'_>>) -> Change {
    let ends = entry.map(|entry| entry.dead_at()).max(lease.map(|lease| lease.until));
    let Some(ends) = ends else { return Change::Drop };
    let entry = entry.map_or_else(Bytes::new, |entry| entry.to_record().bytes().clone());
    Change::Put(Stored { lease: lease.map(lease_bytes), entry, ends })
}

#[cfg(test)]
mod tests {
    use super::super::{LEASE, show};
    use super::*;
    use crate::clock::Version;

    const NOW: Time = Time::from_millis(1_000);

    fn claim(token: u64, until: u64) -> Operation {
        Operation::Lease(Claim { token: Token(token), until: Time::from_millis(until) })
    }

    fn bytes(change: Change) -> Vec<u8> {
        let Change::Put(stored) = change else { panic!("{change:?} is no write") };
        stored.parts().concat()
    }

    #[test]
    fn a_lease_precedes_the_entry_and_expires() {
        let record = Record::new(&Header::default(), &[], b"stale");
        let (change, outcome) = claim(7, 2_000).apply(record.bytes(), NOW).unwrap();
        assert_eq!(outcome, Outcome::Lease(Some(Token(7))));
        let held = bytes(change);
        let value = show(&held.clone().into(), NOW, |entry| entry.value().to_vec()).unwrap();
        assert_eq!(value.as_deref(), Some(&b"stale"[..]));
        assert_eq!(claim(8, 3_000).apply(&held, NOW).unwrap(), (Change::Keep, Outcome::Lease(None)));
        let (_, later) = claim(8, 3_000).apply(&held, Time::from_millis(2_000)).unwrap();
        assert_eq!(later, Outcome::Lease(Some(Token(8))));
        let (change, _) = Operation::Release(Token(7)).apply(&held, NOW).unwrap();
        assert_eq!(bytes(change), &record.bytes()[..]);
        assert_eq!(Operation::Release(Token(8)).apply(&held, NOW).unwrap().0, Change::Keep);
    }

    #[test]
    fn a_lease_without_an_entry_is_a_miss() {
        let held = bytes(claim(7, 2_000).apply(&[], NOW).unwrap().0);
        assert_eq!(held.len(), LEASE_LEN);
        assert_eq!(show(&held.clone().into(), NOW, |_| ()).unwrap(), None);
        assert_eq!(Operation::Release(Token(7)).apply(&held, NOW).unwrap().0, Change::Drop);
    }

    #[test]
    fn invalid_bytes_are_an_error_for_readers_and_ignored_by_writers() {
        for invalid in [&b"garbage"[..], &[LEASE, 1, 2], &[0xC1; 10]] {
            assert!(show(&Bytes::copy_from_slice(invalid), NOW, |_| ()).is_err() || invalid[0] == LEASE);
            let record = Record::new(&Header { version: Version::from_u64(1), ..Header::default() }, &[], b"x");
            let (change, outcome) = Operation::Set(record, When::Newer).apply(invalid, NOW).unwrap();
            assert!(matches!(change, Change::Put(_)) && outcome.done());
        }
    }
}
