//! The value of an entry, before it is decoded.

use std::borrow::Cow;

use bytes::Bytes;

use super::compression;
use crate::clock::Version;
use crate::codec::Codec;
use crate::driver::{Entry, Flags, Header};
use crate::error::{Error, Result};

/// The value of an entry: its bytes, still as stored.
pub(crate) struct Value<'a>(Entry<'a>);

impl<'a> Value<'a> {
    #[inline]
    pub(crate) fn of(entry: Entry<'a>) -> Self {
        Self(entry)
    }

    pub(crate) fn decode<V, C: Codec<V>>(self, codec: &C) -> Result<V> {
        self.plain()?;
        if C::SHARES && !self.0.flags().has(Flags::COMPRESSED) {
            return codec.decode_shared(self.0.value_bytes());
        }
        match self.bytes()? {
            Cow::Borrowed(bytes) => codec.decode(bytes),
            Cow::Owned(bytes) if C::SHARES => codec.decode_shared(Bytes::from(bytes)),
            Cow::Owned(bytes) => codec.decode(&bytes),
        }
    }

    #[inline]
    pub(crate) fn with_bytes<R>(self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if self.0.flags().has(Flags::COMPRESSED) {
            return Ok(read(&compression::unpack(self.0.value())?));
        }
        Ok(read(self.0.value()))
    }

    pub(crate) fn header(&self) -> Header {
        self.0.header()
    }

    pub(crate) fn version(&self) -> Version {
        self.0.version()
    }

    pub(crate) fn number(self) -> Result<i64> {
        match self.0.value().try_into() {
            Ok(bytes) if self.0.flags().has(Flags::COUNTER) => Ok(i64::from_le_bytes(bytes)),
            _ => Err(Error::codec("the key holds a value, not a counter")),
        }
    }

    fn plain(&self) -> Result<()> {
        if self.0.flags().has(Flags::COUNTER) {
            return Err(Error::codec("the key holds a counter, not a value"));
        }
        Ok(())
    }

    fn bytes(&self) -> Result<Cow<'a, [u8]>> {
        if self.0.flags().has(Flags::COMPRESSED) {
            return compression::unpack(self.0.value()).map(Cow::Owned);
        }
        Ok(Cow::Borrowed(self.0.value()))
    }
}
