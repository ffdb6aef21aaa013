//! Encrypts and authenticates what a driver stores, for servers that others can reach.
//!
//! The value of an entry is sealed with XChaCha20-Poly1305 for its key, version, kind and tags: it opens only unchanged
//! and in its place. The rest of the header stays as it is, since servers compare versions and expire entries. So
//! anybody who can write to the server can still remove entries, bring back older ones, and extend their time.

use std::path::Path;
use std::sync::Arc;
use std::{fmt, fs};

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use crate::clock::{Time, Version};
use crate::driver::{Driver, Entry, Record, Removal, When, forward};
use crate::error::{Error, Result};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// A driver whose server learns keys and sizes, but no values, and cannot make any up.
///
/// A value takes 40 bytes more. One that does not open is an error that [is corrupt](Error::is_corrupt), and is
/// removed. Counters are read, changed and written, since the server cannot add to what it cannot read.
///
/// ```
/// use skep_cache::{Cache, Memory, SealKeys, Sealed};
///
/// # skep_cache::driver::block_on(async {
/// let keys = SealKeys::parse(&"5e".repeat(32))?; // in a program: SealKeys::read("/etc/blog/cache-key")?
/// let names = Cache::<u32, String>::builder("names").build(Sealed::new(Memory::new(1 << 20), keys))?;
/// names.set(&1, &"Ada".to_owned()).await?;
/// assert_eq!(names.get(&1).await?.as_deref(), Some("Ada"));
/// # Ok::<(), skep_cache::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Sealed<D> {
    driver: D,
    keys: SealKeys,
}

/// The keys of a [`Sealed`] driver: the first seals, all open, which allows rotation.
///
/// Every process and machine that shares the entries needs the same. A clone shares the keys; they are never printed.
#[derive(Clone)]
pub struct SealKeys(Arc<[XChaCha20Poly1305]>);

impl SealKeys {
    /// Reads keys from a file, one on each line: 64 hexadecimal digits, such as `openssl rand -hex 32` prints.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, others may read it, or it has no keys; the text says what is expected.
    pub fn read(file: impl AsRef<Path>) -> Result<Self> {
        let file = file.as_ref();
        let failed =
            |why: String| Error::misused("the keys of a sealed cache").because(format!("{}: {why}", file.display()));
        check_mode(file).map_err(failed)?;
        let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        Self::of(&text).map_err(failed)
    }

    /// The keys of such a text.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn parse(text: &str) -> Result<Self> {
        Self::of(text).map_err(|why| Error::misused("the keys of a sealed cache").because(why))
    }

    fn of(text: &str) -> Result<Self, String> {
        let keys = text.split_whitespace().enumerate().map(|(at, word)| {
            // The word itself may be a key with a slip in it, and belongs in no log.
            let key = hexadecimal(word).ok_or_else(|| format!("key {} is not 64 hexadecimal digits", at + 1))?;
            Ok(XChaCha20Poly1305::new(&key.into()))
        });
        let keys = keys.collect::<Result<Vec<_>, String>>()?;
        if keys.is_empty() {
            return Err("there is no key: write the output of `openssl rand -hex 32` to it".to_owned());
        }
        Ok(Self(keys.into()))
    }
}

impl fmt::Debug for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKeys({})", self.0.len())
    }
}

fn hexadecimal(word: &str) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    if word.len() != 2 * KEY_BYTES || !word.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&word[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(key)
}

#[cfg(unix)]
fn check_mode(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(file).map_err(|error| error.to_string())?.permissions().mode() & 0o777;
    if mode & 0o027 == 0 {
        return Ok(());
    }
    Err(format!("it has mode {mode:03o}, so others may read or change it: chmod 600 {}", file.display()))
}

#[cfg(not(unix))]
fn check_mode(_: &Path) -> Result<(), String> {
    Ok(())
}

impl<D: Driver> Sealed<D> {
    /// Seals what this driver stores.
    pub fn new(driver: D, keys: SealKeys) -> Self {
        Self { driver, keys }
    }

    /// The driver beneath, with the entries as its server has them.
    pub fn inner(&self) -> &D {
        &self.driver
    }

    fn seal(&self, key: &[u8], record: &Record) -> Result<Record> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| Error::misused("no random bytes").because(error))?;
        let entry = record.entry();
        let payload = Payload { msg: entry.value(), aad: &place(key, &entry) };
        let sealed = self.keys.0[0].encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::misused("a value is too large to be sealed"))?;
        Ok(with_value(&entry, &[&nonce, &sealed]))
    }

    fn open(&self, key: &[u8], entry: &Entry<'_>) -> Option<Record> {
        let (nonce, sealed) = entry.value().split_first_chunk::<NONCE_BYTES>()?;
        let (nonce, place) = (XNonce::from(*nonce), place(key, entry));
        let open = |one: &XChaCha20Poly1305| one.decrypt(&nonce, Payload { msg: sealed, aad: &place }).ok();
        self.keys.0.iter().find_map(open).map(|value| with_value(entry, &[&value]))
    }
}

/// What a value is sealed for, the part of variable length last.
fn place(key: &[u8], entry: &Entry<'_>) -> Vec<u8> {
    let mut place = vec![entry.flags().bits(), u8::try_from(entry.tags().count()).unwrap_or(u8::MAX)];
    place.extend_from_slice(&entry.version().to_u64().to_le_bytes());
    for tag in entry.tags() {
        place.extend_from_slice(&tag.to_le_bytes());
    }
    place.extend_from_slice(key);
    place
}

fn with_value(entry: &Entry<'_>, parts: &[&[u8]]) -> Record {
    let tags: Vec<u64> = entry.tags().collect();
    let mut bytes = Record::begin(&entry.header(), &tags, parts.iter().map(|part| part.len()).sum());
    for part in parts {
        bytes.extend_from_slice(part);
    }
    Record::end(bytes)
}

impl<D: Driver> Driver for Sealed<D> {
    forward! { { sealed => sealed.driver } name remove lease release abandon touch keys clear generation stamp watch usage }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let opened =
            self.driver.get(key, now, |entry| self.open(key, &entry).map(|record| read(record.entry()))).await?;
        match opened {
            None => Ok(None),
            Some(Some(result)) => Ok(Some(result)),
            Some(None) => {
                self.driver.remove(key, Removal { version: Version::ZERO, until: now }, now).await?;
                Err(Error::corrupt("sealed with another key, or for another place"))
            }
        }
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        self.driver.set(key, &self.seal(key, record)?, when, now).await
    }

    async fn get_many<F>(&self, keys: &[&[u8]], now: Time, mut read: F) -> Result<()>
    where
        F: FnMut(usize, Entry<'_>) + Send,
    {
        // One that does not open is a miss here; the next write is in its place.
        let each = |index: usize, entry: Entry<'_>| {
            if let Some(record) = self.open(keys[index], &entry) {
                read(index, record.entry());
            }
        };
        self.driver.get_many(keys, now, each).await
    }

    async fn set_many(&self, entries: &[(&[u8], Record)], now: Time) -> Result<()> {
        let mut sealed = Vec::with_capacity(entries.len());
        for (key, record) in entries {
            sealed.push((*key, self.seal(key, record)?));
        }
        self.driver.set_many(&sealed, now).await
    }
}
