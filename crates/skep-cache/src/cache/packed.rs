//! Compressed values, where the program was built with lz4.

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
    // lz4 cannot do better than 255 to 1, so a greater length is damage, and no reason to ask for memory.
    if length / 255 > packed.len() {
        return Err(Error::codec("the length before the lz4 block is impossible"));
    }
    lz4_flex::block::decompress_size_prepended(packed).map_err(|error| Error::codec("not lz4").because(error))
}

#[cfg(not(feature = "compress"))]
pub(crate) fn unpack(_: &[u8]) -> Result<Vec<u8>> {
    Err(Error::codec("the value is compressed, and this program was built without the feature `compress`"))
}
