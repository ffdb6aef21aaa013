//! Encoded keys: namespace, schema, then the key in postcard, or its digest if that is too long.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::driver::MAX_KEY;
use crate::error::{Error, Result};

/// The prefix of all keys of a cache: the namespace, 0, the schema (4 bytes, big endian).
#[derive(Debug)]
pub(crate) struct Prefix(Box<[u8]>);

/// An encoded key, on the stack if it is short.
pub(crate) struct Key {
    bytes: [u8; SHORT],
    length: usize,
    long: Option<Box<[u8]>>,
}

const SHORT: usize = 112;

const NAMESPACE: usize = 64;
/// Follows the prefix of a plain key, and of a digest.
const WRITTEN: u8 = 0;
const DIGEST: u8 = 1;

impl Prefix {
    pub(crate) fn new(namespace: &str, schema: u32) -> Result<Self> {
        if namespace.is_empty() || namespace.len() > NAMESPACE || namespace.bytes().any(|byte| byte == 0) {
            return Err(Error::misused("invalid namespace: expected 1 to 64 bytes, none of them 0"));
        }
        Ok(Self([namespace.as_bytes(), &[0], &schema.to_be_bytes()].concat().into()))
    }

    pub(crate) fn key<K: Serialize + ?Sized>(&self, key: &K) -> Result<Key> {
        let mut encoded = Key::empty();
        self.write(key, &mut encoded)?;
        Ok(encoded)
    }

    /// As [`key`](Self::key), in place: returning it would move its buffer.
    #[inline]
    pub(crate) fn write<K: Serialize + ?Sized>(&self, key: &K, to: &mut Key) -> Result<()> {
        let start = self.0.len();
        to.bytes[..start].copy_from_slice(&self.0);
        to.bytes[start] = WRITTEN;
        match postcard::to_slice(key, &mut to.bytes[start + 1..]) {
            Ok(written) => {
                to.length = start + 1 + written.len();
                Ok(())
            }
            Err(postcard::Error::SerializeBufferFull) => {
                to.long = Some(self.long(key)?);
                Ok(())
            }
            Err(error) => Err(Error::codec("postcard cannot encode the key").because(error)),
        }
    }

    #[cold]
    fn long<K: Serialize + ?Sized>(&self, key: &K) -> Result<Box<[u8]>> {
        let written =
            postcard::to_stdvec(key).map_err(|error| Error::codec("postcard cannot encode the key").because(error))?;
        let long = if self.0.len() + 1 + written.len() <= MAX_KEY {
            [&*self.0, &[WRITTEN], &written].concat()
        } else {
            [&*self.0, &[DIGEST], &Sha256::digest(written)].concat()
        };
        Ok(long.into())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Decodes the key, unless it is a digest.
    pub(crate) fn decode<K: DeserializeOwned>(&self, key: &[u8]) -> Option<K> {
        let (kind, written) = key.strip_prefix(&*self.0)?.split_first()?;
        (*kind == WRITTEN).then(|| postcard::from_bytes(written).ok())?
    }
}

impl Key {
    #[inline]
    pub(crate) fn empty() -> Self {
        Self { bytes: [0; SHORT], length: 0, long: None }
    }
}

impl std::ops::Deref for Key {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.long {
            None => &self.bytes[..self.length],
            Some(long) => long,
        }
    }
}
