//! Keys: what a file is called where it is stored.

use std::fmt;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use skep::{Error, Result};

/// What a file is called where it is stored: random, 32 hexadecimal digits. It is never made of what a user writes, so
/// no file leaves its folder.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Key(String);

/// Digits of a key.
const DIGITS: usize = 32;

/// Where files are noted that no committed transaction is known to have.
const PENDING: &str = "pending";

impl Key {
    pub(crate) fn random() -> Result<Self> {
        let mut bytes = [0; DIGITS / 2];
        getrandom::fill(&mut bytes).map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self(hex(&bytes)))
    }

    /// The key, if the text is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == DIGITS && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the file. A folder with all of them would be slow to list.
    pub(crate) fn path(&self) -> String {
        format!("{}/{}", &self.0[..2], self.0)
    }

    /// The path of the note that nobody may have it.
    pub(crate) fn note(&self) -> String {
        format!("{PENDING}/{}", self.0)
    }

    /// Where notes are.
    pub(crate) const NOTES: &str = PENDING;
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is no key of a file: expected {DIGITS} hexadecimal digits"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
