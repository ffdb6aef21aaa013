//! The file of `skep compile`: machine code, and what must be known before any of it runs.
//!
//! `skepcode`; the version of the format and of Skep; the settings that start-up code has read; the code for requests;
//! the code whose start-up code runs once more, if any; and the SHA-256 of all that.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::hash::{Hash, SUM};

/// The first bytes of a file.
const MAGIC: &[u8] = b"skepcode";

const FORMAT: u32 = 1;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The parts of a file, by their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Precompiled {
    /// The code begins with the memory that start-up code has left, and does not run it again.
    pub(crate) has_image: bool,
    /// The environment of that start-up code, `NAME=VALUE`.
    pub(crate) environment: Vec<String>,
    pub(crate) code: Range<usize>,
    /// The component without that memory: its start-up code has used the database, a cache or the keys, and does so
    /// again with those of the server.
    pub(crate) start: Option<Range<usize>>,
}

/// The parts of a file, to be written one after the other. `start`: code whose start-up code runs once more on the
/// server; empty if it need not.
pub(crate) fn pieces(has_image: bool, environment: &[(String, String)], code: Vec<u8>, start: Vec<u8>) -> [Vec<u8>; 4] {
    let variables = environment.iter().map(|(name, value)| format!("{name}={value}"));
    let mut head = MAGIC.to_vec();
    head.extend(FORMAT.to_le_bytes());
    put(&mut head, VERSION.as_bytes());
    head.push(u8::from(has_image));
    put(&mut head, variables.collect::<Vec<_>>().join("\0").as_bytes());
    head.extend((code.len() as u64).to_le_bytes());
    head.extend((start.len() as u64).to_le_bytes());
    let sum = Sha256::new().chain_update(&head).chain_update(&code).chain_update(&start).finalize();
    [head, code, start, sum.to_vec()]
}

fn put(head: &mut Vec<u8>, text: &[u8]) {
    head.extend((text.len() as u64).to_le_bytes());
    head.extend(text);
}

impl Precompiled {
    /// Reads a file, and its hash. `None` if it is no file of `skep compile`.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, Hash)>, Error> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Ok(None) };
        let mut reader = Reader { bytes, at: bytes.len() - rest.len() };
        // What follows in a file of another version is unknown.
        let (format, version) = reader.version().ok_or_else(cut)?;
        if format != FORMAT || version != VERSION {
            return Err(Error::Invalid(format!(
                "was compiled by skep {} (format {format}), and this is skep {VERSION} (format {FORMAT}): `skep compile` the \
                 component again, with this version",
                version.escape_debug()
            )));
        }
        let file = reader.rest().ok_or_else(cut)?;
        let (all, sum) = bytes.split_at(bytes.len() - SUM);
        let hash = Hash::of(all);
        if !hash.is(sum) {
            return Err(Error::invalid("is damaged (its checksum is wrong): `skep compile` the component again"));
        }
        Ok(Some((file, hash)))
    }

    /// Warns if settings differ from those that start-up code has read when the file was compiled.
    pub(crate) fn warn_of_changes(&self, app: &str, env: &[(String, String)]) {
        let here: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let changed = changed(&self.environment, &here);
        if self.has_image && !changed.is_empty() {
            let names = changed.join(", ");
            tracing::warn!(
                target: "skep::isolate",
                app,
                "start-up code has read another {names} where this file was compiled, which holds: say it to `skep compile` (--env)"
            );
        }
    }
}

/// Variables that may differ: the version's own, and the log level.
const PASSING: &[&str] = &["SKEP_BUILD=", "SKEP_LOG="];

/// The names of variables that differ from those that start-up code has read.
fn changed<'v>(compiled: &'v [String], here: &'v [String]) -> Vec<&'v str> {
    let lacks = |all: &[String], one: &String| !all.contains(one);
    let gone = compiled.iter().filter(|variable| lacks(here, variable));
    let new = here.iter().filter(|variable| lacks(compiled, variable));
    let counts = |variable: &&String| PASSING.iter().all(|name| !variable.starts_with(name));
    let mut names: Vec<&str> =
        gone.chain(new).filter(counts).map(|variable| variable.split('=').next().unwrap_or_default()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn cut() -> Error {
    Error::invalid("is not complete: `skep compile` the component again, or copy the whole file")
}

/// Reads a head. `None`: the file ends too early.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn length(&mut self) -> Option<usize> {
        let bytes = self.take(8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    }

    fn text(&mut self) -> Option<&'b str> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn version(&mut self) -> Option<(u32, &'b str)> {
        let format = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        Some((format, self.text()?))
    }

    fn rest(mut self) -> Option<Precompiled> {
        let has_image = *self.take(1)?.first()? != 0;
        let environment = self.text()?.split('\0').filter(|text| !text.is_empty()).map(ToOwned::to_owned).collect();
        let (code, start) = (self.length()?, self.length()?);
        let code = self.at..self.at.checked_add(code)?;
        let start = code.end..code.end.checked_add(start)?;
        let is_whole = start.end.checked_add(SUM)? == self.bytes.len();
        let file = Precompiled { has_image, environment, code, start: Some(start).filter(|start| !start.is_empty()) };
        is_whole.then_some(file)
    }
}

#[cfg(test)]
#[path = "../tests/unit/precompiled.rs"]
mod tests;
