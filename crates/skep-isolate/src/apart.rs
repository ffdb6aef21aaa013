//! A component in two parts: its code, and what its memory and its globals begin with.
//!
//! Both the file and start-up code say what instances begin with, and a new version often differs in nothing else. So code is compiled without
//! it, once, and it is written into what the compiler made ([`crate::artifact`]): for the instance in which start-up code runs, and, as that has left
//! memory and globals, for those that serve. Only components whose instances can be put back have no more than that which
//! changes ([`crate::renew`]); the others go the longer way, by the snapshotter and two compilations.
//!
//! Start reading at [`Apart::ready`].

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::WasmList;
use wasmtime::{PoolConcurrencyLimitError, Store};

use crate::artifact::Artifact;
use crate::compiled::{Compiled, Unoptimised, kept, mapped, not_kept};
use crate::disk::Disk;
use crate::engine::{Host, is_third};
use crate::error::Wrong;
use crate::instance;
use crate::options::Options;
use crate::ready::checked;
use crate::renew::{self, Contents, Places, Renewal};
use crate::snapshot::{self, Init, Ran, or_cold};
use crate::source::{Form, Hash, Source};
use crate::state::{Grants, State};
use crate::sys;

/// The code of a component.
pub(crate) struct Apart {
    wasm: Vec<u8>,
    hash: Hash,
    places: Places,
}

/// The same, compiled.
struct Machine {
    artifact: Artifact,
    host: Host,
}

/// How often it is tried to have an instance, and how long is waited before.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);

/// Why a component is not served in two parts: another way may do.
struct Not(String);

impl<E: std::fmt::Display> From<E> for Not {
    fn from(why: E) -> Self {
        Self(why.to_string())
    }
}

impl Apart {
    /// Compiles the component, and runs its start-up code. `None` if it cannot be served in two parts; what else is wrong with it, who goes the
    /// longer way says.
    pub(crate) fn ready(
        host: &Host,
        disk: Option<&Disk>,
        source: &Source,
        options: &Options,
    ) -> Result<Option<(Arc<Grants>, Compiled)>, Wrong> {
        // Elsewhere code is laid out for larger pages, and there is no baseline compiler to gain from.
        let is_here = cfg!(target_arch = "x86_64") && source.form == Form::Component;
        if !is_here || !options.module_cache.is_snapshot() || is_third(&source.bytes) {
            return Ok(None);
        }
        let whole = |why: Not| {
            tracing::debug!(target: "skep::isolate", app = options.name, "it is compiled as a whole: {}", why.0);
        };
        let begun = Self::of(source).and_then(|(apart, contents)| {
            let machine = apart.machine(host, disk, options)?;
            let disk = disk.filter(|_| !Init::is_in(&source.bytes));
            Ok((apart.finish(&machine, disk, &contents)?, apart, machine, contents))
        });
        let Some((code, apart, machine, begun)) = begun.map_err(whole).ok() else { return Ok(None) };
        let grants = checked(host, &code, source, options)?;
        let made = match Init::of(&code.component) {
            None => None,
            Some(_) => {
                let optimise = || apart.machine_of(host, disk).and_then(|machine| apart.load(&machine, &begun));
                let optimise = || optimise().map_err(|why| Wrong(why.0));
                let read = async |ran: Ran| Ok(read(ran, &apart.places).await);
                let made = snapshot::ran_once(&code, optimise, disk, &source.hash, &grants, read);
                match or_cold(made.map(Some), options)? {
                    Some(Err(why)) => {
                        whole(why);
                        return Ok(None);
                    }
                    Some(Ok(made)) => Some(made),
                    None => None,
                }
            }
        };
        let has_image = made.is_some();
        let (code, contents) = match made {
            None => (Ok(code), begun),
            Some(made) => (apart.finish(&machine, disk, &made), made),
        };
        let code = code.and_then(|code| apart.begins_with(&code, &contents, &grants).map(|()| code));
        let Some(code) = code.map_err(whole).ok() else { return Ok(None) };
        let unoptimised = machine.host.is_baseline().then(|| Unoptimised::Apart(Arc::new(apart), contents));
        Ok(Some((grants, Compiled { has_image, unoptimised, ..code })))
    }

    fn of(source: &Source) -> Result<(Self, Contents), Not> {
        let renew::Parts { code, places, contents } = renew::apart(&source.bytes)?;
        Ok((Self { hash: Hash::of(&code), wasm: code, places }, contents))
    }

    /// What serves soonest: optimised code, if there is any; or code of the baseline compiler.
    fn machine(&self, host: &Host, disk: Option<&Disk>, options: &Options) -> Result<Machine, Not> {
        if let Some(machine) = self.kept(host, disk) {
            return Ok(machine);
        }
        // What is kept was looked into when it was compiled.
        renew::can_be_put_back(&self.wasm)?;
        if options.baseline
            && let Some(host) = host.baseline()
        {
            match Artifact::compiled(host.engine(), &self.wasm) {
                Ok(artifact) => return Ok(Machine { artifact, host }),
                Err(why) => {
                    tracing::debug!(target: "skep::isolate", "the baseline compiler gives up: {why:#}");
                }
            }
        }
        self.machine_of(host, disk)
    }

    /// Optimised code, and kept.
    fn machine_of(&self, host: &Host, disk: Option<&Disk>) -> Result<Machine, Not> {
        if let Some(machine) = self.kept(host, disk) {
            return Ok(machine);
        }
        let artifact = Artifact::compiled(host.engine(), &self.wasm)?;
        if let Some(Err(error)) = disk.map(|disk| disk.keep(host.engine(), &self.hash, artifact.bytes())) {
            not_kept(&error);
        }
        Ok(Machine { artifact, host: host.clone() })
    }

    fn kept(&self, host: &Host, disk: Option<&Disk>) -> Option<Machine> {
        let file = disk?.find(host.engine(), &self.hash)?;
        Artifact::kept(&file).ok().map(|artifact| Machine { artifact, host: host.clone() })
    }

    /// A component that begins with this.
    fn load(&self, machine: &Machine, contents: &Contents) -> Result<Compiled, Not> {
        let artifact = self.with(machine, contents)?;
        let component = sys::made(machine.host.engine(), &artifact)?;
        Ok(Compiled::with(component, &machine.host))
    }

    fn with(&self, machine: &Machine, contents: &Contents) -> Result<Artifact, Not> {
        machine.artifact.with(&self.places, contents).ok_or_else(|| Not("its code is not built as expected".to_owned()))
    }

    /// The one that serves: from a file of its own, if its code is to stay.
    fn finish(&self, machine: &Machine, disk: Option<&Disk>, contents: &Contents) -> Result<Compiled, Not> {
        let disk = disk.filter(|_| !machine.host.is_baseline());
        let mapped = disk.and_then(|disk| self.mapped(machine, disk, contents));
        mapped.map_or_else(|| self.load(machine, contents), Ok)
    }

    fn mapped(&self, machine: &Machine, disk: &Disk, contents: &Contents) -> Option<Compiled> {
        let name = contents.hash(&self.hash);
        kept(&machine.host, disk, &name).or_else(|| {
            let artifact = self.with(machine, contents).ok()?;
            let file = disk.keep(machine.host.engine(), &name, artifact.bytes());
            let file = file.inspect_err(not_kept).ok()?;
            mapped(&machine.host, disk, &name, &file)
        })
    }

    /// Asks an instance.
    fn begins_with(&self, code: &Compiled, contents: &Contents, grants: &Arc<Grants>) -> Result<(), Not> {
        let mut store = Store::new(code.host.engine(), State::new(grants, None));
        instance::limit(&mut store);
        if code.host.counts_fuel() {
            store.set_fuel(u64::MAX)?;
        }
        let linked = code.host.linker().instantiate_pre(&code.component)?;
        let begun = snapshot::runtime().map_err(|why| Not(why.0))?.block_on(async {
            let mut tries = 0;
            let instance = loop {
                match linked.instantiate_async(&mut store).await {
                    // Requests have all of them, and none for long.
                    Err(error) if error.is::<PoolConcurrencyLimitError>() && tries < TRIES => {
                        tries += 1;
                        tokio::time::sleep(PAUSE).await;
                    }
                    instance => break instance?,
                }
            };
            let ran = Ran { store, instance };
            read(ran, &self.places).await
        })?;
        if begun == *contents { Ok(()) } else { Err(Not("its instances do not begin as they should".to_owned())) }
    }

    /// Optimised code of what is served.
    pub(crate) fn optimised(
        &self,
        host: &Host,
        disk: Option<&Disk>,
        contents: &Contents,
        grants: &Arc<Grants>,
    ) -> Result<Compiled, Wrong> {
        let made = self.machine_of(host, disk).and_then(|machine| {
            let code = self.finish(&machine, disk, contents)?;
            self.begins_with(&code, contents, grants).map(|()| code)
        });
        made.map_err(|why| Wrong(format!("cannot be optimised: {}", why.0)))
    }
}

/// What memory and globals of an instance are now.
async fn read(ran: Ran, places: &Places) -> Result<Contents, Not> {
    let Ran { mut store, instance } = ran;
    let read = async {
        store.data_mut().deadline = u64::MAX;
        let renewal = Renewal::of(instance.instance_pre(&store).component());
        let renewal = renewal.ok_or_else(|| wasmtime::Error::msg("it is not renewable"))?;
        let global = instance.get_typed_func::<(u32,), (u64,)>(&mut store, renewal.global)?;
        let mut globals = Vec::new();
        for (nth, _) in (0..).zip(&places.globals) {
            globals.push(global.call_async(&mut store, (nth,)).await?.0);
        }
        let tell = instance.get_typed_func::<(), (WasmList<u8>,)>(&mut store, renewal.memory)?;
        let (all,) = tell.call_async(&mut store, ()).await?;
        Ok(Contents::of(all.as_le_slice(&store), globals))
    };
    read.await.map_err(|error: wasmtime::Error| Not(format!("what it begins with cannot be read: {error:#}")))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::engine::Size;

    #[test]
    fn what_does_not_begin_as_it_should_does_not_serve() {
        let text = "(component (core module $m (memory (export \"memory\") 1) (data (i32.const 9) \"beginning\")
                      (global (mut i32) (i32.const 7))) (core instance (instantiate $m)))";
        let source = Source::of("a.wasm".as_ref(), wat::parse_str(text).unwrap());
        let source = source.unwrap_or_else(|wrong| panic!("{wrong}"));
        let host = Host::new(Size { instances: 4, fuel: false }).unwrap();
        let grants = Arc::new(Grants { clock: Arc::clone(&host.clock), memory: 1 << 20, ..Grants::default() });
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path()).unwrap();
        let (apart, contents) = Apart::of(&source).unwrap_or_else(|why| panic!("{}", why.0));
        for baseline in [true, false] {
            let options = Options { baseline, ..Options::default() };
            let machine = apart.machine(&host, Some(&disk), &options).unwrap_or_else(|why| panic!("{}", why.0));
            assert_eq!(machine.host.is_baseline(), baseline);
            for disk in [None, Some(&disk)] {
                let code = apart.finish(&machine, disk, &contents).unwrap_or_else(|why| panic!("{}", why.0));
                let begins = |contents: &Contents| apart.begins_with(&code, contents, &grants).is_ok();
                assert!(begins(&contents));
                assert!(!begins(&Contents { size: 2, ..contents.clone() }));
                assert!(!begins(&Contents { globals: vec![8], ..contents.clone() }));
                assert!(!begins(&Contents { offset: 4096, ..contents.clone() }));
            }
        }
    }
}
