//! Encrypted and authenticated texts in cookies and hidden fields.
//!
//! A text is sealed with XChaCha20-Poly1305 for one purpose; it opens only unchanged and for the same purpose. The keys
//! are a setting, in a file that the configuration names, or in `secret` in the data directory, which is created on
//! first use.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use crate::security::secret::Secret;
use crate::sql::private;
use skep_http::error::{Error, Result};

/// The name of the file in the data folder.
const FILE: &str = "secret";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// The keys of an application, loaded or created on first use: [`Cx::keys`](crate::Cx::keys). For texts that it gives
/// away and gets back, or stores so that who reads the database learns nothing. They are never shown.
///
/// ```
/// use skep::{Cx, Result};
///
/// fn sealed(cx: &Cx<'_>, user: &str, secret: &[u8]) -> Result<String> {
///     // The purpose has the user, so that nobody opens another's.
///     cx.keys().seal(&format!("shop.secret {user}"), secret)
/// }
///
/// fn opened(cx: &Cx<'_>, user: &str, sealed: &str) -> Result<Option<Vec<u8>>> {
///     cx.keys().open(&format!("shop.secret {user}"), sealed)
/// }
/// ```
///
/// A purpose belongs to one kind of text. Those of the framework are refused: what begins with `session of`, `form`,
/// `log level`, `application:` or `skep-`.
pub struct AppKeys {
    source: Source,
    keys: OnceLock<Keys>,
}

/// Where the keys come from.
enum Source {
    File(PathBuf, Missing),
    /// The setting `secret_keys`.
    Setting(Secret<String>),
    /// Random keys that are never stored.
    Temporary,
    /// The host of a component has them, if it offers any.
    #[cfg(target_family = "wasm")]
    Host(Option<fn() -> Result<String, String>>),
}

/// What becomes of a file that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Create,
    /// Keys that appear by themselves where others were meant would open nothing, and be others on the next machine.
    Refuse,
}

/// The first key seals and all keys open, which allows rotation.
struct Keys(Vec<XChaCha20Poly1305>);

impl AppKeys {
    /// The keys of this file.
    pub(crate) fn in_file(file: PathBuf, missing: Missing) -> Self {
        Self::from(Source::File(file, missing))
    }

    /// The keys of the file in this data folder.
    pub(crate) fn in_folder(data: &Path) -> Self {
        Self::in_file(data.join(FILE), Missing::Create)
    }

    /// The keys of the setting `secret_keys`.
    pub(crate) fn given(keys: Secret<String>) -> Self {
        Self::from(Source::Setting(keys))
    }

    /// Random keys that are never stored.
    pub(crate) fn temporary() -> Self {
        Self::from(Source::Temporary)
    }

    fn from(source: Source) -> Self {
        Self { source, keys: OnceLock::new() }
    }

    /// Reads keys that are configured, so that a start without them fails.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.source {
            Source::File(_, Missing::Refuse) | Source::Setting(_) => self.keys().map(drop),
            _ => Ok(()),
        }
    }

    /// The keys that the host of a component has.
    #[cfg(target_family = "wasm")]
    pub(crate) fn of_host(keys: Option<fn() -> Result<String, String>>) -> Self {
        Self::from(Source::Host(keys))
    }

    /// A text that only [`open`](Self::open) with the same purpose reads; it fits into a cookie. An example is at
    /// [`AppKeys`].
    pub fn seal(&self, purpose: &str, text: &[u8]) -> Result<String> {
        self.seal_own(not_ours(purpose)?, text)
    }

    /// The text, if it was sealed with one of these keys and for this purpose. An example is at [`AppKeys`].
    pub fn open(&self, purpose: &str, sealed: &str) -> Result<Option<Vec<u8>>> {
        self.open_own(not_ours(purpose)?, sealed)
    }

    /// What [`seal`](Self::seal) does, for purposes of the framework.
    pub(crate) fn seal_own(&self, purpose: &str, text: &[u8]) -> Result<String> {
        let nonce: [u8; NONCE_BYTES] = random()?;
        let payload = Payload { msg: text, aad: purpose.as_bytes() };
        let sealed = self.keys()?.0[0].encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| Error::internal("a text could not be sealed"))?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// The text, if it was sealed with one of these keys and for this purpose.
    pub(crate) fn open_own(&self, purpose: &str, sealed: &str) -> Result<Option<Vec<u8>>> {
        let Ok(bytes) = URL_SAFE_NO_PAD.decode(sealed) else { return Ok(None) };
        let Some((nonce, sealed)) = bytes.split_first_chunk::<NONCE_BYTES>() else { return Ok(None) };
        let (keys, nonce) = (self.keys()?, XNonce::from(*nonce));
        let payload = || Payload { msg: sealed, aad: purpose.as_bytes() };
        Ok(keys.0.iter().find_map(|key| key.decrypt(&nonce, payload()).ok()))
    }

    /// What stands for a text in logs: the same for the same text, and nobody without the keys finds the text by
    /// trying.
    ///
    /// ```
    /// fn name_in_logs(cx: &skep::Cx<'_>, name: &str) -> skep::Result<String> { cx.keys().digest("shop.name", name) }
    /// ```
    pub fn digest(&self, purpose: &str, text: &str) -> Result<String> {
        use sha2::{Digest, Sha256};
        let text = Sha256::digest(text);
        let payload = Payload { msg: &text, aad: not_ours(purpose)?.as_bytes() };
        // The nonce is always the same, so nothing of what is sealed may be shown but its hash.
        let sealed = self.keys()?.0[0].encrypt(&XNonce::from([0; NONCE_BYTES]), payload);
        let sealed = sealed.map_err(|_| Error::internal("a digest could not be made"))?;
        Ok(URL_SAFE_NO_PAD.encode(&Sha256::digest(sealed)[..9]))
    }

    fn keys(&self) -> Result<&Keys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = Keys::parse(&self.text()?)
            .map_err(|problem| Error::internal(format!("the keys {}: {problem}", self.source)))?;
        Ok(self.keys.get_or_init(|| keys))
    }

    /// The keys as they are written. For a component: what is there must be keys, and the rest does not concern
    /// it.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn checked_text(&self) -> Result<String> {
        let text = self.text()?;
        Keys::parse(&text).map_err(|problem| Error::internal(format!("the keys {}: {problem}", self.source)))?;
        Ok(text)
    }

    fn text(&self) -> Result<String> {
        Ok(match &self.source {
            Source::File(file, missing) => keys_in(file, *missing)?,
            Source::Setting(keys) => keys.reveal().clone(),
            Source::Temporary => new_key()?,
            #[cfg(target_family = "wasm")]
            Source::Host(Some(keys)) => {
                keys().map_err(|problem| Error::internal(format!("the host's keys: {problem}")))?
            }
            #[cfg(target_family = "wasm")]
            Source::Host(None) => return Err(Error::internal(PLAIN)),
        })
    }
}

/// How the purposes of the framework begin.
const OURS: [&str; 5] = ["session of", "form", "log level", "application:", "skep-"];

/// Refuses the purposes of the framework: what is sealed for one cannot pass for the other.
fn not_ours(purpose: &str) -> Result<&str> {
    match OURS.iter().find(|ours| purpose.starts_with(**ours)) {
        None => Ok(purpose),
        Some(ours) => Err(Error::internal(format!(
            "{purpose:?} begins with {ours:?}, as what the framework seals; name another purpose"
        ))),
    }
}

/// The content of the key file.
fn keys_in(file: &Path, missing: Missing) -> Result<String> {
    Ok(read_or_make(file, missing)
        .map_err(|error| io::Error::new(error.kind(), format!("the keys in {}: {error}", file.display())))?)
}

/// What a component lacks that asks nothing of its host.
#[cfg(target_family = "wasm")]
const PLAIN: &str =
    "this component was made by `component!(app(), plain)` and has no keys to seal something with: leave out `plain`";

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file, _) => write!(f, "in {}", file.display()),
            Self::Setting(_) => f.write_str("in the setting secret_keys"),
            Self::Temporary => f.write_str("that were drawn"),
            #[cfg(target_family = "wasm")]
            Self::Host(_) => f.write_str("of the host"),
        }
    }
}

impl Keys {
    fn parse(text: &str) -> Result<Self, String> {
        let key = |(position, word): (usize, &str)| {
            hexadecimal(word).map(|key| XChaCha20Poly1305::new(&key.into())).ok_or_else(|| {
                // The word itself may be a key with a slip in it, and belongs in no log.
                format!(
                    "key {} is not one: a key has {} hexadecimal digits, each on a line",
                    position + 1,
                    2 * KEY_BYTES
                )
            })
        };
        let keys: Vec<_> = text.split_whitespace().enumerate().map(key).collect::<Result<_, _>>()?;
        if keys.is_empty() { Err("the key is missing: `--generate-secret` prints one".into()) } else { Ok(Self(keys)) }
    }
}

fn hexadecimal(word: &str) -> Option<[u8; KEY_BYTES]> {
    let digits = word.as_bytes();
    if digits.len() != 2 * KEY_BYTES {
        return None;
    }
    let mut key = [0; KEY_BYTES];
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(key)
}

/// Random bytes from the operating system.
pub(crate) fn random<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

pub(crate) fn new_key() -> Result<String> {
    use std::fmt::Write;
    let mut text = String::new();
    for byte in random::<KEY_BYTES>()? {
        write!(text, "{byte:02x}")?;
    }
    text.push('\n');
    Ok(text)
}

/// Creates the file atomically: of several processes one wins, and all read its key.
fn read_or_make(file: &Path, missing: Missing) -> io::Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Refuse => {
            let text = "there is no such file: make one with the application's own `--generate-secret > FILE` and `chmod 600 FILE`";
            return Err(io::Error::new(error.kind(), text));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(text) => return private::check_secret(file).map(|()| text),
    }
    if let Some(folder) = file.parent() {
        private::create_folder(folder)?;
    }
    let key = new_key().map_err(|error| io::Error::other(error.to_string()))?;
    // Not by the number of the process: in a container that is always the same, and a crash may have left one.
    let number: [u8; 8] = random().map_err(|error| io::Error::other(error.to_string()))?;
    let own = file.with_extension(format!("{:016x}.new", u64::from_ne_bytes(number)));
    let mut made = private::create_new(&own)?;
    made.write_all(key.as_bytes())?;
    // An empty file after a power cut would be a start that fails.
    made.sync_all()?;
    let made = fs::hard_link(&own, file);
    fs::remove_file(&own)?;
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::read_to_string(file),
    }
}

impl fmt::Debug for AppKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppKeys(..)")
    }
}

#[cfg(test)]
#[path = "../../tests/unit/keys.rs"]
mod tests;
