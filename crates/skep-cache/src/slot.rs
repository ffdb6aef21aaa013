//! The bytes of one key where the backend knows only bytes: an entry, a lease, or both.
//!
//! A driver that can replace the bytes of a key atomically keeps the whole contract with `Operation::apply` (Redis runs
//! the same in Lua: `redis/operation.lua`). A lease precedes the entry:
//!
//! | bytes | content |
//! |---|---|
//! | 0 | 0x4C, a lease (an entry begins with another byte) |
//! | 1..9 | its token, little endian |
//! | 9..17 | its end, milliseconds since 1970 |
//! | 17.. | the entry, if there is one |

use bytes::Bytes;

use crate::clock::Time;
use crate::driver::{self, Claim, Entry, Header, Record, Removal, Token, When};
use crate::error::Result;

const LEASE: u8 = 0x4C;

/// Bytes of a lease.
pub(crate) const LEASE_LEN: usize = 17;

pub(crate) fn entry_at(bytes: &[u8]) -> usize {
    if bytes.first() == Some(&LEASE) { LEASE_LEN.min(bytes.len()) } else { 0 }
}

/// Passes the entry to `read` if it is live. Invalid bytes are an error.
pub(crate) fn show<R>(bytes: &Bytes, now: Time, read: impl FnOnce(Entry<'_>) -> R) -> Result<Option<R>> {
    let at = entry_at(bytes);
    if at > 0 && at == bytes.len() {
        return Ok(None);
    }
    let whole;
    let ours = if at == 0 {
        bytes
    } else {
        whole = bytes.slice(at..);
        &whole
    };
    let entry = Entry::parse_shared(ours)?;
    Ok(entry.is_live(now).then(|| read(entry)))
}

pub(crate) fn lease_bytes(claim: Claim) -> [u8; LEASE_LEN] {
    let mut bytes = [LEASE; LEASE_LEN];
    bytes[1..9].copy_from_slice(&claim.token.0.to_le_bytes());
    bytes[9..].copy_from_slice(&claim.until.millis().to_le_bytes());
    bytes
}

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

    #[cfg(feature = "sqlite")]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.parts().concat()
    }
}

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
            Self::Remove(removal) => {
                (put(&driver::tombstone(*removal, slot.entry), now), Outcome::Done(slot.live(now).is_some()))
            }
            Self::Lease(claim) => match slot.lease {
                Some(_) => (Change::Keep, Outcome::Lease(None)),
                None => (hold(Some(*claim), slot.entry), Outcome::Lease(Some(claim.token))),
            },
            Self::Release(token) => {
                let is_held = slot.lease.is_some_and(|lease| lease.token == *token);
                (if is_held { hold(None, slot.entry) } else { Change::Keep }, Outcome::Done(true))
            }
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

/// The methods of a driver that are an operation each, run by one of its methods: `operations!(apply)`, or
/// `operations!(inner.apply await)`.
macro_rules! operations {
    ($($apply:ident).+ $($await:ident)?) => {
        async fn remove(&self, key: &[u8], removal: $crate::driver::Removal, now: $crate::Time) -> Result<bool> {
            Ok(self.$($apply).+(key, Operation::Remove(removal), now)$(.$await)??.done())
        }

        async fn lease(&self, key: &[u8], claim: $crate::driver::Claim, now: $crate::Time) -> Result<Option<$crate::driver::Token>> {
            Ok(self.$($apply).+(key, Operation::Lease(claim), now)$(.$await)??.lease())
        }

        async fn release(&self, key: &[u8], token: $crate::driver::Token, now: $crate::Time) -> Result<()> {
            self.$($apply).+(key, Operation::Release(token), now)$(.$await)?.map(drop)
        }

        async fn increment(&self, key: &[u8], by: i64, fresh: &$crate::driver::Record, now: $crate::Time) -> Result<i64> {
            Ok(self.$($apply).+(key, Operation::Increment(by, fresh.clone()), now)$(.$await)??.sum())
        }

        async fn touch(&self, key: &[u8], fresh_until: $crate::Time, dead_at: $crate::Time, now: $crate::Time) -> Result<bool> {
            Ok(self.$($apply).+(key, Operation::Touch { fresh_until, dead_at }, now)$(.$await)??.done())
        }
    };
}

pub(crate) use operations;

fn set(slot: Slot<'_>, record: &Record, when: When, now: Time) -> (Change, Outcome) {
    let may = match when {
        When::Leased(token) => slot.lease.is_some_and(|lease| lease.token == token),
        _ => driver::may_replace(when, record.entry().version(), slot.entry, now),
    };
    (if may { put(record, now) } else { Change::Keep }, Outcome::Done(may))
}

/// A write ends the lease; a dead entry, or a tombstone that is not needed, is stored by storing nothing.
fn put(record: &Record, now: Time) -> Change {
    if record.entry().exists(now) { Change::Put(Stored::plain(record)) } else { Change::Drop }
}

fn hold(lease: Option<Claim>, entry: Option<Entry<'_>>) -> Change {
    let ends = entry.map(|entry| entry.dead_at()).max(lease.map(|lease| lease.until));
    let Some(ends) = ends else { return Change::Drop };
    let entry = entry.map_or_else(Bytes::new, |entry| entry.to_record().bytes().clone());
    Change::Put(Stored { lease: lease.map(lease_bytes), entry, ends })
}
