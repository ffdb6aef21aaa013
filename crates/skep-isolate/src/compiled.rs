//! A component as machine code.

mod written;

use wasmtime::component::Component;

use crate::disk::Disk;
use crate::engine::{Host, is_third};
use crate::error::Wrong;
use crate::options::Options;
use crate::renew;
use crate::snapshot::Init;
use crate::source::{Code, Form, Hash, Source};
use crate::sys;

pub(crate) use written::{Written, pieces};

/// Machine code of one content.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) component: Component,
    /// The memory of start-up code is in it.
    pub(crate) has_image: bool,
    /// What it was before that, if start-up code is to do once more what it did beyond its memory.
    pub(crate) start: Option<Component>,
}

impl From<Component> for Compiled {
    fn from(component: Component) -> Self {
        Self { component, has_image: false, start: None }
    }
}

impl Compiled {
    /// Compiles, or takes what was compiled before: for the engine that it needs, [`Host::of`] it.
    pub(crate) fn new(host: &Host, disk: Option<&Disk>, source: &Source, options: &Options) -> Result<Self, Wrong> {
        match &source.form {
            // What has start-up code is made renewable when that has run.
            Form::Component if options.module_cache.is_snapshot() && !Init::is_in(&source.bytes) => {
                Self::renewable(host, disk, &source.bytes, options)
            }
            Form::Component => {
                let host = if is_third(&source.bytes) { &host.concurrent()? } else { host };
                Self::of_wasm(host, disk, &source.bytes)
            }
            Form::Compiled(written) => Self::of_file(host, source, written),
        }
    }

    /// The same for one of which each request has a new instance: if it can be, made so that instances can be put back.
    pub(crate) fn renewable(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Wrong> {
        if is_third(wasm) {
            return Self::of_wasm(&host.concurrent()?, disk, wasm);
        }
        match renew::renewable(wasm) {
            // What wasmtime takes as it was, it may refuse with one more module in it.
            Ok(renewable) => Self::of_wasm(host, disk, &renewable).or_else(|_| Self::of_wasm(host, disk, wasm)),
            Err(why) => {
                tracing::debug!(target: "skep::isolate", app = options.name, "each request has an instance that is made for it: {why}");
                Self::of_wasm(host, disk, wasm)
            }
        }
    }

    /// A component in memory.
    pub(crate) fn of_wasm(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Self, Wrong> {
        let content = Hash::of(wasm);
        if let Some(disk) = disk
            && let Some(component) = kept(host, disk, &content)
        {
            return Ok(component.into());
        }
        let component = Component::from_binary(&host.engine, wasm).map_err(|error| refused(&error))?;
        let Some(disk) = disk else { return Ok(component.into()) };
        let code = component.serialize().map_err(|error| refused(&error))?;
        match disk.keep(&host.engine, &content, &code) {
            // What comes from the file is shared with other processes, and costs no memory while it is not used.
            Ok(()) => Ok(kept(host, disk, &content).unwrap_or(component).into()),
            Err(error) => {
                tracing::warn!(target: "skep::isolate", "compiled code is not kept, and the next start compiles again: {error}");
                Ok(component.into())
            }
        }
    }

    fn of_file(host: &Host, source: &Source, written: &Written) -> Result<Self, Wrong> {
        let component = load(host, &source.code(&written.code)?)?;
        let start = written.start.as_ref().map(|start| load(host, &source.code(start)?));
        Ok(Self { component, has_image: written.has_image, start: start.transpose()? })
    }
}

/// Which of the two engines it is for, machine code says only to them.
fn load(host: &Host, code: &Code<'_>) -> Result<Component, Wrong> {
    let component = sys::load(&host.engine, code)
        .or_else(|error| host.concurrent().ok().and_then(|host| sys::load(&host.engine, code).ok()).ok_or(error));
    component.map_err(|error| {
        Wrong(format!(
            "was compiled for another engine: {error:#}; `skep compile` it again, with this version and --fuel alike"
        ))
    })
}

fn kept(host: &Host, disk: &Disk, content: &Hash) -> Option<Component> {
    let file = disk.find(&host.engine, content)?;
    match sys::map(&host.engine, &file) {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not used: {error:#}");
            disk.forget(&host.engine, content);
            None
        }
    }
}

/// What the compiler says, and what it means where that is known.
fn refused(error: &wasmtime::Error) -> Wrong {
    let text = format!("{error:#}");
    let hint = if text.contains("async") {
        "; it looks like one for a draft of WASI 0.3, and this server has 0.2 and the 0.3 that was released"
    } else if text.contains("unexpected end") || text.contains("out of bounds (bound") {
        "; the file is not complete"
    } else {
        ""
    };
    Wrong(format!("does not compile: {text}{hint}"))
}
