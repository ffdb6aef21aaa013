//! Compression of values with lz4, if the feature is enabled.

use crate::driver::{Header, Record};
use crate::error::{Error, Result};

#[cfg(feature = "compress")]
use crate::driver::Flags;

#[cfg(feature = "compress")]
pub(crate) fn record(header: &Header, tags: &[u64], value: &[u8]) -> Record {
    let packed = lz4_flex::block::compress_prepend_size(value);
    if packed.len() >= value.len() {
        return Record::new(header, tags, value);
    }
    Record::new(&Header { flags: header.flags.with(Flags::COMPRESSED), ..*header }, tags, &packed)
}

#[cfg(not(feature = "compress"))]
pub(crate) fn record(header: &Header, tags: &[u64], value: &[u8]) -> Record {
    Record::new(header, tags, value)
}

#[cfg(feature = "compress")]
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let (length, _) = lz4_flex::block::uncompressed_size(packed).map_err(|error| Error::codec("lz4").because(error))?;
    // lz4 compresses 255 to 1 at most: a greater length is damage, so do not allocate for it.
    if length / 255 > packed.len() {
        return Err(Error::codec("invalid length of an lz4 block"));
    }
    lz4_flex::block::decompress_size_prepended(packed).map_err(|error| Error::codec("invalid lz4 block").because(error))
}

#[cfg(not(feature = "compress"))]
pub(crate) fn unpack(_: &[u8]) -> Result<Vec<u8>> {
    Err(Error::codec("compressed value: build with the feature `compress`"))
}
