//! The value of an entry, before it is decoded, and its compression with lz4, if that feature is enabled.

use crate::codec::Codec;
use crate::driver::{Entry, Flags, Header, Record};
use crate::error::{Error, Result};

/// The value of an entry: its bytes, still as stored.
pub(crate) struct Value<'a>(pub(crate) Entry<'a>);

impl Value<'_> {
    pub(crate) fn decode<V, C: Codec<V>>(self, codec: &C) -> Result<V> {
        let flags = self.0.flags();
        if flags.has(Flags::COUNTER) {
            return Err(Error::codec("the key holds a counter, not a value"));
        }
        match (C::SHARES, flags.has(Flags::COMPRESSED)) {
            (true, true) => codec.decode_shared(unpack(self.0.value())?.into()),
            (true, false) => codec.decode_shared(self.0.value_bytes()),
            (false, true) => codec.decode(&unpack(self.0.value())?),
            (false, false) => codec.decode(self.0.value()),
        }
    }

    #[inline]
    pub(crate) fn with_bytes<R>(self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if self.0.flags().has(Flags::COMPRESSED) {
            return Ok(read(&unpack(self.0.value())?));
        }
        Ok(read(self.0.value()))
    }

    pub(crate) fn number(self) -> Result<i64> {
        match self.0.value().try_into() {
            Ok(bytes) if self.0.flags().has(Flags::COUNTER) => Ok(i64::from_le_bytes(bytes)),
            _ => Err(Error::codec("the key holds a value, not a counter")),
        }
    }
}

/// A record with a compressed value, if that is smaller.
#[cfg(feature = "compress")]
pub(crate) fn compressed(header: &Header, tags: &[u64], value: &[u8]) -> Record {
    let packed = lz4_flex::block::compress_prepend_size(value);
    if packed.len() >= value.len() {
        return Record::new(header, tags, value);
    }
    Record::new(&Header { flags: header.flags.with(Flags::COMPRESSED), ..*header }, tags, &packed)
}

#[cfg(not(feature = "compress"))]
pub(crate) fn compressed(header: &Header, tags: &[u64], value: &[u8]) -> Record {
    Record::new(header, tags, value)
}

#[cfg(feature = "compress")]
fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let (length, _) = lz4_flex::block::uncompressed_size(packed).map_err(|error| Error::codec("lz4").because(error))?;
    // lz4 compresses 255 to 1 at most: a greater length is damage, so do not allocate for it.
    if length / 255 > packed.len() {
        return Err(Error::codec("invalid length of an lz4 block"));
    }
    lz4_flex::block::decompress_size_prepended(packed).map_err(|error| Error::codec("invalid lz4 block").because(error))
}

#[cfg(not(feature = "compress"))]
fn unpack(_: &[u8]) -> Result<Vec<u8>> {
    Err(Error::codec("compressed value: build with the feature `compress`"))
}
