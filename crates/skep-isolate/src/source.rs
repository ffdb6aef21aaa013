//! A file: its content, hash and kind.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wasmtime::Engine;

use crate::disk::Trusted;
use crate::error::Error;
use crate::hash::Hash;
use crate::precompiled::Precompiled;

/// The content of a component's file.
pub(crate) struct ComponentFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Of all of it, without the checksum of precompiled code.
    pub(crate) hash: Hash,
    pub(crate) form: Form,
    /// Whether nobody but this user or root could have written it.
    trusted: Result<(), String>,
}

/// Machine code in memory that nobody but this user or root could have written, and that nobody can change.
pub(crate) struct TrustedCode<'s>(&'s [u8]);

impl TrustedCode<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The component itself.
    Component,
    /// Machine code that `skep compile` made of one.
    Precompiled(Precompiled),
}

/// `\0asm`, version and layer: a module is layer 0, a component layer 1 (component model, `Binary.md`).
const MAGIC: &[u8] = b"\0asm";
const MODULE: &[u8] = &[1, 0, 0, 0];
const COMPONENT: &[u8] = &[0x0d, 0, 1, 0];

impl ComponentFile {
    /// Reads a file. Fails with what is wrong if it cannot be served.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let read = || {
            let mut file = File::open(path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            // Of the open file, whatever the name refers to by now.
            Ok((bytes, Trusted::of(file).map(drop)))
        };
        let (bytes, trusted) = read().map_err(|error| Error::io("cannot be read", error).in_file(path))?;
        Ok(Self { trusted: trusted.map_err(|error| error.to_string()), ..Self::of(path, bytes)? })
    }

    /// Machine code in it, if it is trusted.
    pub(crate) fn code(&self, place: &Range<usize>) -> Result<TrustedCode<'_>, Error> {
        match &self.trusted {
            Ok(()) => Ok(TrustedCode(&self.bytes[place.clone()])),
            Err(why) => {
                Err(Error::Invalid(format!("is machine code, which is not run unless it is sure whose it is: {why}")))
            }
        }
    }

    pub(crate) fn of(path: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        let precompiled = Precompiled::read(&bytes).map_err(|error| error.in_file(path))?;
        let (form, hash) = match precompiled {
            Some((file, hash)) => (Form::Precompiled(file), hash),
            None => (form(&bytes).map_err(|error| error.in_file(path))?, Hash::of(&bytes)),
        };
        Ok(Self { path: path.to_owned(), hash, bytes, form, trusted: Err("it was in no file".to_owned()) })
    }
}

fn form(bytes: &[u8]) -> Result<Form, Error> {
    if let Some(rest) = bytes.strip_prefix(MAGIC) {
        return match rest.get(..4) {
            Some(COMPONENT) => Ok(Form::Component),
            Some(MODULE) => Err(Error::invalid(
                "is a core module, and not a component; a Rust program becomes one with `cargo build --target \
                 wasm32-wasip2`, a module of WASI 0.1 with `wasm-tools component new FILE --adapt \
                 wasi_snapshot_preview1.reactor.wasm -o COMPONENT`",
            )),
            Some(_) => Err(Error::invalid("is WebAssembly of a version that this server does not know")),
            None => Err(Error::invalid("ends within its first eight bytes: it is not complete")),
        };
    }
    match Engine::detect_precompiled(bytes) {
        Some(wasmtime::Precompiled::Component) => {
            return Err(Error::invalid(
                "is machine code of another tool, or of an earlier version of skep: `skep compile` the component again, with \
                 this version",
            ));
        }
        Some(wasmtime::Precompiled::Module) => {
            return Err(Error::invalid("is compiled from a core module; `skep compile` takes a component"));
        }
        None => {}
    }
    if bytes.is_empty() {
        return Err(Error::invalid("is empty"));
    }
    let text = bytes.trim_ascii_start();
    if text.starts_with(b"(component") || text.starts_with(b"(module") || text.starts_with(b";;") {
        return Err(Error::invalid(
            "is WebAssembly as text; `wasm-tools parse FILE -o COMPONENT` makes the binary that is served",
        ));
    }
    Err(Error::invalid("is not a component: a component begins with the bytes 00 61 73 6d 0d 00 01 00"))
}

impl fmt::Debug for ComponentFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.hash)
    }
}

#[cfg(test)]
#[path = "../tests/unit/source.rs"]
mod tests;
