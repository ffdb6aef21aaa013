//! The encoding of entries, the same in all tiers.
//!
//! A [`Header`] of 48 bytes (little endian), the hashes of the tags (8 bytes each), then the encoded value. A
//! [`Record`] owns the bytes, an [`Entry`] borrows them. Drivers read the expiry, the version and the flags only.

use std::convert::identity;

use bytes::{BufMut, Bytes, BytesMut};

use crate::clock::{Time, Version};
use crate::error::{Error, Result};

/// The first byte of every entry. Another one is another format, and a miss.
const FORMAT: u8 = 0xC1;

/// The header of an entry: 48 bytes.
///
/// | bytes | content |
/// |---|---|
/// | 0 | 0xC1, the format |
/// | 1 | [`Flags`] |
/// | 2 | number of tags |
/// | 3 | reserved, 0 |
/// | 4..8 | time to compute, in microseconds |
/// | 8..16 | version |
/// | 16..24 | fresh until, milliseconds since 1970 |
/// | 24..32 | dead at, milliseconds since 1970 |
/// | 32..36 | idle time in milliseconds, or 0 |
/// | 36..40 | extra weight in bytes |
/// | 40..48 | mark of a near tier |
///
/// ```
/// use skep_cache::driver::{Header, Record};
///
/// let record = Record::new(&Header::default(), &[], b"hello");
/// assert_eq!(record.entry().value(), b"hello");
/// assert_eq!(record.bytes().len(), 48 + 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of entry.
    pub flags: Flags,
    /// The time to compute it, in microseconds (at most 71 minutes), for early refresh.
    pub cost: u32,
    /// The version, which orders the writes of a key.
    pub version: Version,
    /// When it becomes stale: then it is served only while or if computing does not succeed.
    pub fresh_until: Time,
    /// When it dies: then no reader gets it, and a driver may drop it.
    pub dead_at: Time,
    /// The idle time after which it dies, in milliseconds; 0 means no such limit. `Cache` extends it by touching.
    pub idle: u32,
    /// Weight in bytes beyond its own size, for drivers with a limit.
    pub weight: u32,
    /// A near tier's mark: the `Driver::stamp` of the far tier, or the end of the copy.
    pub mark: u64,
}

impl Header {
    /// Bytes of a header.
    pub const LEN: usize = 48;

    fn write(&self, tags: u8, to: &mut [u8; Self::LEN]) {
        to[0] = FORMAT;
        to[1] = self.flags.0;
        to[2] = tags;
        to[4..8].copy_from_slice(&self.cost.to_le_bytes());
        to[8..16].copy_from_slice(&self.version.to_u64().to_le_bytes());
        to[16..24].copy_from_slice(&self.fresh_until.millis().to_le_bytes());
        to[24..32].copy_from_slice(&self.dead_at.millis().to_le_bytes());
        to[32..36].copy_from_slice(&self.idle.to_le_bytes());
        to[36..40].copy_from_slice(&self.weight.to_le_bytes());
        to[40..48].copy_from_slice(&self.mark.to_le_bytes());
    }
}

impl Default for Header {
    /// A plain value of version 0 that never expires.
    fn default() -> Self {
        Self {
            flags: Flags::NONE,
            cost: 0,
            version: Version::ZERO,
            fresh_until: Time::NEVER,
            dead_at: Time::NEVER,
            idle: 0,
            weight: 0,
            mark: 0,
        }
    }
}

/// The kind of an entry, a set of the constants.
///
/// ```
/// use skep_cache::driver::Flags;
///
/// let flags = Flags::NEGATIVE.with(Flags::COMPRESSED);
/// assert!(flags.has(Flags::NEGATIVE) && !flags.has(Flags::TOMBSTONE));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// A plain value.
    pub const NONE: Self = Self(0);
    /// A tombstone of a removal: refuses older writes until it dies. Readers get nothing.
    pub const TOMBSTONE: Self = Self(1);
    /// The epoch of a tag: entries that are not newer are invalid. A driver evicts epochs last, and changes its
    /// [`generation`](crate::Driver::generation) when one is written.
    pub const EPOCH: Self = Self(2);
    /// A negative entry: there is no value.
    pub const NEGATIVE: Self = Self(4);
    /// The value is compressed.
    pub const COMPRESSED: Self = Self(8);
    /// A counter for [`increment`](crate::Driver::increment): an `i64`, little endian.
    pub const COUNTER: Self = Self(16);

    #[cfg(feature = "seal")]
    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    /// The union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it contains all of `other`.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An encoded entry that owns its bytes. A clone shares them.
///
/// See [`Header`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(Bytes);

impl Record {
    /// The maximum number of tags.
    pub const MAX_TAGS: usize = 64;

    /// Encodes an entry. Ignores tags beyond [`Record::MAX_TAGS`].
    #[must_use]
    pub fn new(header: &Header, tags: &[u64], value: &[u8]) -> Self {
        let mut bytes = Self::begin(header, tags, value.len());
        bytes.put_slice(value);
        Self(bytes.freeze())
    }

    /// Completes a record whose value was appended.
    pub(crate) fn end(bytes: BytesMut) -> Self {
        Self(bytes.freeze())
    }

    /// Starts a record: header and tags, with capacity for the value.
    pub(crate) fn begin(header: &Header, tags: &[u64], room: usize) -> BytesMut {
        let tags = &tags[..tags.len().min(Self::MAX_TAGS)];
        let mut head = [0; Header::LEN];
        header.write(u8::try_from(tags.len()).expect("at most 64"), &mut head);
        let mut bytes = BytesMut::with_capacity(Header::LEN + 8 * tags.len() + room);
        bytes.put_slice(&head);
        for tag in tags {
            bytes.put_u64_le(*tag);
        }
        bytes
    }

    /// The tombstone of a removal.
    #[must_use]
    pub fn tombstone(mark: Removal) -> Self {
        let Removal { version, until } = mark;
        let flags = Flags::TOMBSTONE;
        Self::new(&Header { flags, version, fresh_until: until, dead_at: until, ..Header::default() }, &[], &[])
    }

    /// Parses stored bytes.
    ///
    /// # Errors
    ///
    /// [`Error::is_corrupt`] if they are not an entry.
    pub fn parse(bytes: Bytes) -> Result<Self> {
        Entry::parse(&bytes)?;
        Ok(Self(bytes))
    }

    /// Borrows it.
    #[inline]
    pub fn entry(&self) -> Entry<'_> {
        Entry { bytes: &self.0, owner: Some(&self.0) }
    }

    /// The bytes to store.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// A copy with another header.
    #[must_use]
    pub fn with_header(&self, header: &Header) -> Self {
        self.entry().with_header(header)
    }
}

/// A removal: refuses writes that are not newer than `version` until `until`.
///
/// See [`Driver::remove`](crate::Driver::remove).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Writes must be newer.
    pub version: Version,
    /// When the tombstone dies.
    pub until: Time,
}

/// A borrowed entry.
///
/// ```
/// use skep_cache::driver::{Entry, Header, Record};
///
/// let record = Record::new(&Header::default(), &[7], b"hello");
/// let entry = Entry::parse(record.bytes())?;
/// assert_eq!(entry.value(), b"hello");
/// assert_eq!(entry.tags().collect::<Vec<_>>(), [7]);
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    bytes: &'a [u8],
    owner: Option<&'a Bytes>,
}

/// Methods that read the fields of the header, at their byte.
macro_rules! fields {
    ($($name:ident: $type:ty = $from:path, $number:ident at $at:literal;)*) => {
        /// The header.
        pub fn header(&self) -> Header {
            Header { $($name: self.$name()),* }
        }

        $(
            #[doc = concat!("See [`Header::", stringify!($name), "`].")]
            #[inline]
            pub fn $name(&self) -> $type {
                $from($number::from_le_bytes(self.field($at)))
            }
        )*
    };
}

impl<'a> Entry<'a> {
    /// Parses stored bytes.
    ///
    /// # Errors
    ///
    /// [`Error::is_corrupt`] if they are not an entry.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() < Header::LEN || bytes.len() < Header::LEN + 8 * usize::from(bytes[2]) {
            return Err(Error::corrupt("shorter than its header"));
        }
        if bytes[0] != FORMAT {
            return Err(Error::corrupt("another format"));
        }
        Ok(Self { bytes, owner: None })
    }

    /// As [`Entry::parse`], for a driver that has [`Bytes`]: readers may share the value.
    #[inline]
    pub fn parse_shared(bytes: &'a Bytes) -> Result<Self> {
        Ok(Self { owner: Some(bytes), ..Self::parse(bytes)? })
    }

    fields! {
        flags: Flags = Flags, u8 at 1;
        cost: u32 = identity, u32 at 4;
        version: Version = Version::from_u64, u64 at 8;
        fresh_until: Time = Time::from_millis, u64 at 16;
        dead_at: Time = Time::from_millis, u64 at 24;
        idle: u32 = identity, u32 at 32;
        weight: u32 = identity, u32 at 36;
        mark: u64 = identity, u64 at 40;
    }

    /// Whether the entry or tombstone is not dead.
    #[inline]
    pub fn exists(&self, now: Time) -> bool {
        now < self.dead_at()
    }

    /// Whether a reader may get it: it is neither dead nor a tombstone.
    #[inline]
    pub fn is_live(&self, now: Time) -> bool {
        self.exists(now) && !self.flags().has(Flags::TOMBSTONE)
    }

    /// Whether it has tags.
    #[inline]
    pub fn has_tags(&self) -> bool {
        self.bytes[2] > 0
    }

    /// The hashes of its tags.
    #[inline]
    pub fn tags(&self) -> impl Iterator<Item = u64> + use<'a> {
        let tags = &self.bytes[Header::LEN..self.value_at()];
        tags.as_chunks::<8>().0.iter().map(|tag| u64::from_le_bytes(*tag))
    }

    /// The encoded value.
    #[inline]
    pub fn value(&self) -> &'a [u8] {
        &self.bytes[self.value_at()..]
    }

    /// The encoded value, shared with the driver if possible, or copied.
    pub fn value_bytes(&self) -> Bytes {
        match self.owner {
            Some(owner) => owner.slice(self.value_at()..),
            None => Bytes::copy_from_slice(self.value()),
        }
    }

    /// All bytes of the entry.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The entry, shared with the driver if possible, or copied.
    pub fn to_record(&self) -> Record {
        match self.owner {
            Some(owner) => Record(owner.clone()),
            None => Record(Bytes::copy_from_slice(self.bytes)),
        }
    }

    /// A copy with another header.
    #[must_use]
    pub fn with_header(&self, header: &Header) -> Record {
        let mut head = [0; Header::LEN];
        header.write(self.bytes[2], &mut head);
        let mut bytes = BytesMut::with_capacity(self.bytes.len());
        bytes.put_slice(&head);
        bytes.put_slice(&self.bytes[Header::LEN..]);
        Record(bytes.freeze())
    }

    #[inline]
    fn value_at(&self) -> usize {
        Header::LEN + 8 * usize::from(self.bytes[2])
    }

    #[inline]
    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        self.bytes[at..at + N].try_into().expect("parsed: the header is whole")
    }
}
