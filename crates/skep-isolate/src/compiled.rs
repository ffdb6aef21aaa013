//! A component as machine code.

mod written;

use wasmtime::component::Component;

use crate::disk::Disk;
use crate::engine::{Host, is_third};
use crate::error::Wrong;
use crate::options::Options;
use crate::renew;
use crate::reuse::ModuleCache;
use crate::source::{Code, Form, Hash, Source};
use crate::sys;

pub(crate) use written::{Written, pieces};

/// Machine code of one content.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) component: Component,
    /// As this code sees it.
    pub(crate) host: Host,
    /// The memory of start-up code is in it.
    pub(crate) has_image: bool,
    /// What it was before that, if start-up code is to do once more what it did beyond its memory.
    pub(crate) start: Option<Component>,
    /// The component itself, if the optimising compiler is still to see it.
    pub(crate) unoptimised: Option<Vec<u8>>,
}

impl Compiled {
    /// Compiles, or takes what was compiled before.
    pub(crate) fn new(host: &Host, disk: Option<&Disk>, source: &Source, options: &Options) -> Result<Self, Wrong> {
        match &source.form {
            Form::Component if options.module_cache.is_snapshot() => {
                Self::renewable(host, disk, &source.bytes, options)
            }
            Form::Component => Self::soon(host, disk, &source.bytes, options),
            Form::Compiled(written) => Self::of_file(host, source, written),
        }
    }

    /// The same for one of which each request has a new instance: if it can be, made so that instances can be put back.
    pub(crate) fn renewable(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Wrong> {
        if is_third(wasm) {
            return Self::of_wasm(host, disk, wasm);
        }
        match renew::renewable(wasm) {
            // What wasmtime takes as it was, it may refuse with one more module in it.
            Ok(renewable) => {
                Self::soon(host, disk, &renewable, options).or_else(|_| Self::soon(host, disk, wasm, options))
            }
            Err(why) => {
                tracing::debug!(target: "skep::isolate", app = options.name, "each request has an instance that is made for it: {why}");
                Self::soon(host, disk, wasm, options)
            }
        }
    }

    /// What serves soonest: optimised code, if there is any; or code of the baseline compiler, which the optimising one is to replace.
    fn soon(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Wrong> {
        let content = Hash::of(wasm);
        // An instance that serves again would lose what it keeps when other code comes.
        let is_quick = options.baseline && options.module_cache != ModuleCache::Cached;
        if is_quick
            && !disk.is_some_and(|disk| disk.has(host.engine(), &content))
            && let Some(quick) = Self::baseline(host, None, wasm)
        {
            return Ok(Self { unoptimised: Some(wasm.to_vec()), ..quick });
        }
        Self::of_wasm(host, disk, wasm)
    }

    /// Code that runs once: to compile it well takes longer than it runs.
    pub(crate) fn for_once(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Wrong> {
        let quick = if options.baseline { Self::baseline(host, disk, wasm) } else { None };
        quick.map_or_else(|| Self::of_wasm(host, disk, wasm), Ok)
    }

    /// What the baseline compiler makes of it. `None` if it is not for this component: it lacks some proposals. What else is wrong, the optimising
    /// one says.
    fn baseline(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Option<Self> {
        if is_third(wasm) {
            return None;
        }
        let component = code_of(&host.baseline()?, disk, wasm);
        let told = |why: &Wrong| tracing::debug!(target: "skep::isolate", "the baseline compiler gives up: {why}");
        component.inspect_err(told).ok()
    }

    /// A component in memory, optimised.
    pub(crate) fn of_wasm(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Self, Wrong> {
        if is_third(wasm) { code_of(&host.concurrent()?, disk, wasm) } else { code_of(host, disk, wasm) }
    }

    fn of_file(host: &Host, source: &Source, written: &Written) -> Result<Self, Wrong> {
        let code = load(host, &source.code(&written.code)?)?;
        let start = written.start.as_ref().map(|start| load(host, &source.code(start)?));
        let start = start.transpose()?.map(|start| start.component);
        Ok(Self { has_image: written.has_image, start, ..code })
    }

    fn with(component: Component, host: &Host) -> Self {
        Self { component, host: host.clone(), has_image: false, start: None, unoptimised: None }
    }
}

/// Compiles for this host, or takes what was compiled for it before.
fn code_of(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Compiled, Wrong> {
    let content = Hash::of(wasm);
    let kept = disk.and_then(|disk| kept(host, disk, &content));
    if let Some(component) = kept {
        return Ok(Compiled::with(component, host));
    }
    let component = Component::from_binary(host.engine(), wasm).map_err(|error| refused(&error))?;
    let Some(disk) = disk else { return Ok(Compiled::with(component, host)) };
    let code = component.serialize().map_err(|error| refused(&error))?;
    let component = match disk.keep(host.engine(), &content, &code) {
        // What comes from the file is shared with other processes, and costs no memory while it is not used.
        Ok(()) => self::kept(host, disk, &content).unwrap_or(component),
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not kept, and the next start compiles again: {error}");
            component
        }
    };
    Ok(Compiled::with(component, host))
}

/// Which of the two engines it is for, machine code says only to them.
fn load(host: &Host, code: &Code<'_>) -> Result<Compiled, Wrong> {
    let of = |host: &Host| sys::load(host.engine(), code).map(|component| Compiled::with(component, host));
    let loaded = of(host).or_else(|error| host.concurrent().ok().and_then(|host| of(&host).ok()).ok_or(error));
    loaded.map_err(|error| {
        Wrong(format!(
            "was compiled for another engine: {error:#}; `skep compile` it again, with this version and --fuel alike"
        ))
    })
}

fn kept(host: &Host, disk: &Disk, content: &Hash) -> Option<Component> {
    let file = disk.find(host.engine(), content)?;
    match sys::map(host.engine(), &file) {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not used: {error:#}");
            disk.forget(host.engine(), content);
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
