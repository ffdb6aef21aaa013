//! A component as machine code.

mod written;

use std::sync::Arc;

use wasmtime::component::Component;

use crate::apart::Apart;
use crate::disk::{Disk, Trusted};
use crate::engine::{Host, is_third};
use crate::error::Wrong;
use crate::options::Options;
use crate::renew::{self, Contents};
use crate::reuse::ModuleCache;
use crate::source::{Code, Form, Hash, Source};
use crate::sys::{self, Mapped};

pub(crate) use written::{Written, pieces};

/// Machine code of one content.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) component: Component,
    /// The same, if its code is a file's.
    pub(crate) mapped: Option<Mapped>,
    /// As this code sees it.
    pub(crate) host: Host,
    /// The memory of start-up code is in it.
    pub(crate) has_image: bool,
    /// What it was before that, if start-up code is to do once more what it did beyond its memory.
    pub(crate) start: Option<Component>,
    /// What the optimising compiler is still to see.
    pub(crate) unoptimised: Option<Unoptimised>,
}

/// What was compiled in a hurry.
#[derive(Clone)]
pub(crate) enum Unoptimised {
    Wasm(Vec<u8>),
    /// Code, and what its instances begin with.
    Apart(Arc<Apart>, Contents),
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
            && let Some(quick) = Self::baseline(host, None, wasm, &content)
        {
            return Ok(Self { unoptimised: Some(Unoptimised::Wasm(wasm.to_vec())), ..quick });
        }
        Self::optimised(host, disk, wasm, &content)
    }

    /// Code that runs once: to compile it well takes longer than it runs.
    pub(crate) fn for_once(host: &Host, disk: Option<&Disk>, wasm: &[u8], options: &Options) -> Result<Self, Wrong> {
        let content = Hash::of(wasm);
        let quick = if options.baseline { Self::baseline(host, disk, wasm, &content) } else { None };
        quick.map_or_else(|| Self::optimised(host, disk, wasm, &content), Ok)
    }

    /// What the baseline compiler makes of it. `None` if it is not for this component: it lacks some proposals. What else is wrong, the optimising
    /// one says.
    fn baseline(host: &Host, disk: Option<&Disk>, wasm: &[u8], content: &Hash) -> Option<Self> {
        if is_third(wasm) {
            return None;
        }
        let component = code_of(&host.baseline()?, disk, wasm, content);
        let told = |why: &Wrong| tracing::debug!(target: "skep::isolate", "the baseline compiler gives up: {why}");
        component.inspect_err(told).ok()
    }

    /// A component in memory, optimised.
    pub(crate) fn of_wasm(host: &Host, disk: Option<&Disk>, wasm: &[u8]) -> Result<Self, Wrong> {
        Self::optimised(host, disk, wasm, &Hash::of(wasm))
    }

    fn optimised(host: &Host, disk: Option<&Disk>, wasm: &[u8], content: &Hash) -> Result<Self, Wrong> {
        if is_third(wasm) {
            return code_of(&host.concurrent()?, disk, wasm, content);
        }
        code_of(host, disk, wasm, content)
    }

    fn of_file(host: &Host, source: &Source, written: &Written) -> Result<Self, Wrong> {
        let code = load(host, &source.code(&written.code)?)?;
        let start = written.start.as_ref().map(|start| load(host, &source.code(start)?));
        let start = start.transpose()?.map(|start| start.component);
        Ok(Self { has_image: written.has_image, start, ..code })
    }

    pub(crate) fn with(component: Component, host: &Host) -> Self {
        Self { component, mapped: None, host: host.clone(), has_image: false, start: None, unoptimised: None }
    }
}

/// Compiles for this host, or takes what was compiled for it before.
fn code_of(host: &Host, disk: Option<&Disk>, wasm: &[u8], content: &Hash) -> Result<Compiled, Wrong> {
    if let Some(kept) = disk.and_then(|disk| kept(host, disk, content)) {
        return Ok(kept);
    }
    let component = Component::from_binary(host.engine(), wasm).map_err(|error| refused(&error))?;
    let Some(disk) = disk else { return Ok(Compiled::with(component, host)) };
    let code = component.serialize().map_err(|error| refused(&error))?;
    let kept = match disk.keep(host.engine(), content, &code) {
        // What comes from the file is shared with other processes, and costs no memory while it is not used.
        Ok(file) => mapped(host, disk, content, &file),
        Err(error) => {
            not_kept(&error);
            None
        }
    };
    Ok(kept.unwrap_or_else(|| Compiled::with(component, host)))
}

/// Says that the disk has no room for code, or whatever else is wrong with it.
pub(crate) fn not_kept(error: &std::io::Error) {
    tracing::warn!(target: "skep::isolate", "compiled code is not kept, and the next start compiles again: {error}");
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

pub(crate) fn kept(host: &Host, disk: &Disk, content: &Hash) -> Option<Compiled> {
    let file = disk.find(host.engine(), content)?;
    mapped(host, disk, content, &file)
}

pub(crate) fn mapped(host: &Host, disk: &Disk, content: &Hash, file: &Trusted) -> Option<Compiled> {
    match Mapped::new(host.engine(), file) {
        Ok(mapped) => {
            Some(Compiled { mapped: Some(mapped.clone()), ..Compiled::with(mapped.component().clone(), host) })
        }
        Err(error) => {
            tracing::warn!(target: "skep::isolate", "compiled code is not used: {error:#}");
            disk.forget(host.engine(), content);
            None
        }
    }
}

/// What the compiler says, and what it means where that is known.
pub(crate) fn refused(error: &wasmtime::Error) -> Wrong {
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

#[cfg(test)]
mod tests {
    use wasmtime::Store;

    use super::*;
    use crate::engine::Size;
    use crate::state::{Grants, State};

    /// What this process has in memory of files in a folder, in KiB.
    fn resident(folder: &str) -> u64 {
        let all = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_of_it = false;
        let mut kib = 0;
        for line in all.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("Rss:") if is_of_it => kib += words.next().unwrap().parse::<u64>().unwrap(),
                Some(word) if !word.ends_with(':') => is_of_it = line.contains(folder),
                _ => {}
            }
        }
        kib
    }

    #[test]
    fn code_that_rests_takes_no_memory_and_runs() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path()).unwrap();
        let host = Host::new(Size { instances: 4, fuel: false }).unwrap();
        let wasm = wat::parse_str(
            "(component (core module $m (func (export \"f\") (result i32) (i32.const 7)))
               (core instance $i (instantiate $m))
               (func (export \"f\") (result u32) (canon lift (core func $i \"f\"))))",
        );
        let code = Compiled::of_wasm(&host, Some(&disk), &wasm.unwrap()).unwrap();
        let mapped = code.mapped.expect("it is kept, and loaded from its file");
        let resident = || resident(folder.path().to_str().unwrap());
        assert!(resident() > 0);
        mapped.let_go();
        assert_eq!(resident(), 0);
        let grants = Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 1 << 20, ..Grants::default() });
        let mut store = Store::new(host.engine(), State::new(&grants, None));
        store.set_epoch_deadline(1000);
        let linked = host.linker().instantiate_pre(&code.component).unwrap();
        let run = async {
            let instance = linked.instantiate_async(&mut store).await?;
            let function = instance.get_typed_func::<(), (u32,)>(&mut store, "f")?;
            function.call_async(&mut store, ()).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(run).unwrap(), (7,));
        assert!(resident() > 0);
    }
}
