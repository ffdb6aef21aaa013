//! Encoding of values.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Encodes and decodes values. Each cache has one, chosen by type.
///
/// ```
/// use skep_cache::{Cache, Json, Memory};
///
/// let cache = Cache::<str, Vec<u8>>::builder("numbers").codec(Json).build(Memory::new(1 << 20))?;
/// cache.blocking().set("small", &vec![1, 2, 3])?;
/// assert_eq!(cache.blocking().read("small", |bytes| bytes.to_vec())?, Some(b"[1,2,3]".to_vec()));
/// # Ok::<(), skep_cache::Error>(())
/// ```
pub trait Codec<V>: Send + Sync + 'static {
    /// Whether decoded values share the bytes: then [`decode_shared`](Codec::decode_shared) is called.
    const SHARES: bool = false;

    /// Appends the encoded value.
    fn encode(&self, value: &V, to: &mut BytesMut) -> Result<()>;

    /// The number of bytes that [`encode`](Codec::encode) appends, if known: this saves a copy.
    fn encoded_len(&self, value: &V) -> Option<usize> {
        let _ = value;
        None
    }

    /// Decodes a value. The bytes may be anything: invalid ones are an error, and then a miss.
    fn decode(&self, bytes: &[u8]) -> Result<V>;

    /// Decodes a value that may share the bytes.
    fn decode_shared(&self, bytes: Bytes) -> Result<V> {
        self.decode(&bytes)
    }
}

/// Small and fast. The bytes have no field names: change the cache's `schema` whenever the type changes.
///
/// See [`Codec`] for an example with another one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postcard;

/// Lets postcard append to a buffer.
struct Appender<'a>(&'a mut BytesMut);

impl postcard::ser_flavors::Flavor for Appender<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.put_u8(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.put_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl<V: Serialize + DeserializeOwned> Codec<V> for Postcard {
    fn encode(&self, value: &V, to: &mut BytesMut) -> Result<()> {
        postcard::serialize_with_flavor(value, Appender(to))
            .map_err(|error| Error::codec("postcard cannot encode the value").because(error))
    }

    fn decode(&self, bytes: &[u8]) -> Result<V> {
        match postcard::take_from_bytes(bytes) {
            Ok((value, [])) => Ok(value),
            Ok(_) => Err(Error::codec("trailing bytes after the value")),
            Err(error) => Err(Error::codec("invalid bytes").because(error)),
        }
    }
}

/// Readable for people and other programs; new fields may have a default.
///
/// See [`Codec`] for an example.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl<V: Serialize + DeserializeOwned> Codec<V> for Json {
    fn encode(&self, value: &V, to: &mut BytesMut) -> Result<()> {
        serde_json::to_writer(to.writer(), value).map_err(|error| Error::codec("cannot encode as JSON").because(error))
    }

    fn decode(&self, bytes: &[u8]) -> Result<V> {
        serde_json::from_slice(bytes).map_err(|error| Error::codec("invalid JSON").because(error))
    }
}

/// Plain bytes: for `Bytes` (shared with the driver if possible), `Vec<u8>` and `String`.
///
/// ```
/// use skep_cache::{Cache, Memory, Raw};
///
/// let cache = Cache::<str, String>::builder("pages").codec(Raw).build(Memory::new(1 << 20))?;
/// cache.blocking().set("/", &"<h1>Hello".to_owned())?;
/// assert_eq!(cache.blocking().get("/")?.as_deref(), Some("<h1>Hello"));
/// # Ok::<(), skep_cache::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw;

macro_rules! raw {
    ($($type:ty { $($decode:tt)* })*) => {
        $(impl Codec<$type> for Raw {
            fn encode(&self, value: &$type, to: &mut BytesMut) -> Result<()> {
                to.put_slice(value.as_ref());
                Ok(())
            }

            fn encoded_len(&self, value: &$type) -> Option<usize> {
                Some(value.len())
            }

            $($decode)*
        })*
    };
}

raw! {
    Bytes {
        const SHARES: bool = true;

        fn decode(&self, bytes: &[u8]) -> Result<Bytes> {
            Ok(Bytes::copy_from_slice(bytes))
        }

        fn decode_shared(&self, bytes: Bytes) -> Result<Bytes> {
            Ok(bytes)
        }
    }
    Vec<u8> {
        fn decode(&self, bytes: &[u8]) -> Result<Vec<u8>> {
            Ok(bytes.to_vec())
        }
    }
    String {
        fn decode(&self, bytes: &[u8]) -> Result<String> {
            let text = std::str::from_utf8(bytes);
            text.map(str::to_owned).map_err(|error| Error::codec("invalid UTF-8").because(error))
        }
    }
}
