//! A file as it was read: whole, with the hash of its content, and known for what it is.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::{Engine, Precompiled};

use crate::compiled::Written;
use crate::disk::Trusted;
use crate::error::Wrong;

/// The content of a component's file.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Of all of it, but for the sum at the end of machine code.
    pub(crate) hash: Hash,
    pub(crate) form: Form,
    /// Whether nobody but this user, or root, could have written it.
    trusted: Result<(), String>,
}

/// Machine code in memory that nobody but this user, or root, could have written, and that nobody can change any more.
pub(crate) struct Code<'s>(&'s [u8]);

impl Code<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0
    }
}

/// What a file of a component holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The component itself.
    Component,
    /// Machine code that `skep compile` made of one.
    Compiled(Written),
}

/// Which content it is: SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Hash([u8; 32]);

/// `\0asm`, and then the version and the layer: a module is layer 0, a component layer 1 (component model, `Binary.md`).
const MAGIC: &[u8] = b"\0asm";
const MODULE: &[u8] = &[1, 0, 0, 0];
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];

impl Source {
    /// Reads a file, and says what is wrong if it is none that can be served.
    pub(crate) fn read(path: &Path) -> Result<Self, Wrong> {
        let read = || {
            let mut file = File::open(path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            // Of what was read, whatever the name leads to by now.
            Ok((bytes, Trusted::of(file).map(drop)))
        };
        let (bytes, trusted) = read().map_err(|error| Wrong::unreadable(&error).of(path))?;
        Ok(Self { trusted: trusted.map_err(|error| error.to_string()), ..Self::of(path, bytes)? })
    }

    /// Machine code in it, if it is sure whose it is.
    pub(crate) fn code(&self, place: &Range<usize>) -> Result<Code<'_>, Wrong> {
        match &self.trusted {
            Ok(()) => Ok(Code(&self.bytes[place.clone()])),
            Err(why) => Err(Wrong(format!("is machine code, which is not run unless it is sure whose it is: {why}"))),
        }
    }

    pub(crate) fn of(path: &Path, bytes: Vec<u8>) -> Result<Self, Wrong> {
        let written = Written::read(&bytes).map_err(|wrong| wrong.of(path))?;
        let (form, hash) = match written {
            Some((written, hash)) => (Form::Compiled(written), hash),
            None => (form(&bytes).map_err(|wrong| wrong.of(path))?, Hash::of(&bytes)),
        };
        Ok(Self { path: path.to_owned(), hash, bytes, form, trusted: Err("it was in no file".to_owned()) })
    }
}

fn form(bytes: &[u8]) -> Result<Form, Wrong> {
    if let Some(rest) = bytes.strip_prefix(MAGIC) {
        return match rest.get(..4) {
            Some(COMPONENT) => Ok(Form::Component),
            Some(MODULE) => Err(Wrong::with(
                "is a core module, and not a component; a Rust program becomes one with `cargo build --target \
                 wasm32-wasip2`, a module of WASI 0.1 with `wasm-tools component new FILE --adapt \
                 wasi_snapshot_preview1.reactor.wasm -o COMPONENT`",
            )),
            Some(_) => Err(Wrong::with("is WebAssembly of a version that this server does not know")),
            None => Err(Wrong::with("ends within its first eight bytes: it is not complete")),
        };
    }
    match Engine::detect_precompiled(bytes) {
        Some(Precompiled::Component) => {
            return Err(Wrong::with(
                "is machine code of another tool, or of an earlier version of skep: `skep compile` the component again, with \
                 this version",
            ));
        }
        Some(Precompiled::Module) => {
            return Err(Wrong::with("is compiled from a core module; `skep compile` takes a component"));
        }
        None => {}
    }
    if bytes.is_empty() {
        return Err(Wrong::with("is empty"));
    }
    let text = bytes.trim_ascii_start();
    if text.starts_with(b"(component") || text.starts_with(b"(module") || text.starts_with(b";;") {
        return Err(Wrong::with(
            "is WebAssembly as text; `wasm-tools parse FILE -o COMPONENT` makes the binary that is served",
        ));
    }
    Err(Wrong::with("is not a component: a component begins with the bytes 00 61 73 6d 0d 00 01 00"))
}

impl Hash {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// What a sum comes to.
    pub(crate) fn finish(sum: Sha256) -> Self {
        Self(sum.finalize().into())
    }

    /// Whether it is this sum.
    pub(crate) fn is(&self, sum: &[u8]) -> bool {
        self.0 == sum
    }

    /// A number for this content: of two versions, hardly ever the same.
    pub(crate) fn number(&self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|nth| self.0[nth]))
    }

    /// All of it, for names of files.
    pub(crate) fn long(&self) -> String {
        use fmt::Write;
        self.0.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The first half of a dozen bytes: enough to tell versions apart.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(bytes: &[u8]) -> String {
        Source::of(Path::new("app.wasm"), bytes.to_vec()).unwrap_err().0
    }

    #[test]
    fn what_is_no_component_is_told_what_it_is() {
        assert_eq!(complaint(b""), "app.wasm: is empty");
        assert!(
            complaint(b"\0asm\x01\0\0\0").contains("is a core module, and not a component; a Rust program becomes")
        );
        assert!(complaint(b"\0asm\x0d\0").contains("it is not complete"));
        assert!(complaint(b"\0asm\x0e\0\x01\0").contains("of a version"));
        assert!(complaint(b" (component)").contains("wasm-tools parse"));
        assert!(complaint(b"<html>").contains("is not a component"));
        assert_eq!(Source::of(Path::new("a"), b"\0asm\x0d\0\x01\0".to_vec()).unwrap().form, Form::Component);
    }

    #[test]
    fn content_has_one_hash() {
        assert_eq!(Hash::of(b"a").to_string(), "ca978112ca1b");
        assert_eq!(Hash::of(b"a").long().len(), 64);
        assert_ne!(Hash::of(b"a"), Hash::of(b"b"));
    }
}
