//! A component as machine code.

use wasmtime::component::Component;

use crate::disk::{Disk, Trusted};
use crate::engine::Host;
use crate::error::Error;
use crate::hash::Hash;
use crate::options::Options;
use crate::precompiled::Precompiled;
use crate::recycle;
use crate::reuse::ModuleCache;
use crate::source::{ComponentFile, Form, TrustedCode};
use crate::sys::{self, Mapped};
use crate::wasi::is_wasi03;

#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) component: Component,
    /// Its file, if the code is mapped from one.
    pub(crate) mapped: Option<Mapped>,
    /// The engine it is for.
    pub(crate) host: Host,
    /// It begins with the memory that start-up code has left.
    pub(crate) has_image: bool,
    /// The component without that memory, if start-up code must run again here for its effects beyond memory.
    pub(crate) start: Option<Component>,
    /// The component, if only the baseline compiler has seen it.
    pub(crate) unoptimised: Option<Vec<u8>>,
}

impl Code {
    /// Compiles a file, or loads code that was compiled before.
    pub(crate) fn new(
        host: &Host,
        disk: Option<&Disk>,
        source: &ComponentFile,
        options: &Options,
    ) -> Result<Self, Error> {
        match &source.form {
            Form::Component if options.module_cache.is_snapshot() => {
                Self::recyclable(host, disk, &source.bytes, options)
            }
            Form::Component => Self::soonest(host, disk, &source.bytes, options),
            Form::Precompiled(file) => Self::of_file(host, source, file),
        }
    }

    /// The same for a component that serves each request with a new instance, with functions to reset instances if that
    /// is possible.
    pub(crate) fn recyclable(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Error> {
        if is_wasi03(wasm) || recycle::uses_our_names(wasm) {
            return Self::soonest(host, disk, wasm, options);
        }
        match recycle::recyclable(wasm) {
            // wasmtime may refuse one more module.
            Ok(recyclable) => {
                Self::soonest(host, disk, &recyclable, options).or_else(|_| Self::soonest(host, disk, wasm, options))
            }
            Err(why) => {
                tracing::debug!(target: "skep::isolate", app = options.name, "each request gets a new instance: {why}");
                Self::soonest(host, disk, wasm, options)
            }
        }
    }

    /// Optimised code, if it is stored; or code of the baseline compiler, which the optimising one is to replace.
    fn soonest(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Error> {
        // An instance that serves again would lose its state when other code comes.
        let is_quick = options.baseline && options.module_cache != ModuleCache::Cached;
        if is_quick
            && !disk.is_some_and(|disk| disk.has(host.engine(), &Hash::of(wasm)))
            && let Some(quick) = Self::baseline(host, None, wasm)
        {
            return Ok(Self { unoptimised: Some(wasm.to_vec()), ..quick });
        }
        Self::optimised(host, disk, wasm)
    }

    /// Code that runs once: optimising it takes longer than running it.
    pub(crate) fn for_one_run(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Error> {
        let quick = if options.baseline { Self::baseline(host, disk, wasm) } else { None };
        quick.map_or_else(|| Self::optimised(host, disk, wasm), Ok)
    }

    /// Code of the baseline compiler. `None` if it lacks a proposal that the component uses. Other errors the
    /// optimising compiler reports.
    fn baseline(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Option<Self> {
        if is_wasi03(wasm) {
            return None;
        }
        let code = compile(&host.baseline()?, disk, wasm);
        let log =
            |why: &Error| tracing::debug!(target: "skep::isolate", "not compiled by the baseline compiler: {why}");
        code.inspect_err(log).ok()
    }

    pub(crate) fn optimised(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Self, Error> {
        if is_wasi03(wasm) {
            return compile(&host.wasi03()?, disk, wasm);
        }
        compile(host, disk, wasm)
    }

    fn of_file(host: &Host, source: &ComponentFile, file: &Precompiled) -> Result<Self, Error> {
        let code = load(host, &source.code(&file.code)?)?;
        let start = file.start.as_ref().map(|start| load(host, &source.code(start)?));
        let start = start.transpose()?.map(|start| start.component);
        Ok(Self { has_image: file.has_image, start, ..code })
    }

    fn with(component: Component, host: &Host) -> Self {
        Self { component, mapped: None, host: host.clone(), has_image: false, start: None, unoptimised: None }
    }
}

/// Compiles for this engine, or loads what was compiled for it before.
fn compile(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Code, Error> {
    let content = Hash::of(wasm);
    if let Some(disk) = disk
        && let Some(file) = disk.find(host.engine(), &content)
        && let Some(code) = mapped(host, disk, &content, &file)
    {
        return Ok(code);
    }
    let component = Component::from_binary(host.engine(), wasm).map_err(refused)?;
    let Some(disk) = disk else { return Ok(Code::with(component, host)) };
    let bytes = component.serialize().map_err(refused)?;
    let stored = match disk.store(host.engine(), &content, &bytes) {
        // A mapped file is shared between processes, and takes no memory while it is not used.
        Ok(file) => mapped(host, disk, &content, &file),
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not stored, and the next start compiles again: {error}");
            None
        }
    };
    Ok(stored.unwrap_or_else(|| Code::with(component, host)))
}

/// Only the engines know which of them machine code is for.
fn load(host: &Host, code: &TrustedCode<'_>) -> Result<Code, Error> {
    let with = |host: &Host| sys::load(host.engine(), code).map(|component| Code::with(component, host));
    let loaded = with(host).or_else(|error| host.wasi03().ok().and_then(|host| with(&host).ok()).ok_or(error));
    loaded.map_err(|source| Error::Engine {
        what: "was compiled for another engine".to_owned(),
        source,
        hint: "; `skep compile` it again, with this version and the same --fuel",
    })
}

fn mapped(host: &Host, disk: &Disk, content: &Hash, file: &Trusted) -> Option<Code> {
    match Mapped::new(host.engine(), file) {
        Ok(mapped) => Some(Code { mapped: Some(mapped.clone()), ..Code::with(mapped.component().clone(), host) }),
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not used: {error:#}");
            disk.remove(host.engine(), content);
            None
        }
    }
}

/// The compiler's error, and what it means where that is known.
fn refused(source: wasmtime::Error) -> Error {
    let text = format!("{source:#}");
    let hint = if text.contains("async") {
        "; it looks like one for a draft of WASI 0.3, and this server has 0.2 and the 0.3 that was released"
    } else if text.contains("unexpected end") || text.contains("out of bounds (bound") {
        "; the file is not complete"
    } else {
        ""
    };
    Error::Engine { what: "does not compile".to_owned(), source, hint }
}

#[cfg(test)]
#[path = "../tests/unit/code.rs"]
mod tests;
