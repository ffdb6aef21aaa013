//! The options of one component, resolved from settings.

mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skep::Secret;
use skep_server::outgoing::Reach;

use crate::clock::Clock;
use crate::data::{AppData, DataOptions};
use crate::error::Error;
use crate::limits::Limits;
use crate::reuse::{ModuleCache, Reuse};
use crate::state::{Dir, Grants, TotalMemory};

pub(crate) use table::{SETTINGS, Setting, row};

/// Instances of all applications together. Each has address space of more than 4 GiB, and twice that if it has two
/// memories; a process has 128 TiB.
pub(crate) const MOST_INSTANCES: u32 = 10_000;

/// What one application is served with. The defaults are in the table of settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) name: String,
    pub(crate) file: PathBuf,
    /// Hosts that it answers for; all, if none is named.
    pub(crate) hosts: Vec<String>,
    /// It answers for paths below it: empty, or with a slash at the front and none at the end.
    pub(crate) prefix: String,
    pub(crate) module_cache: ModuleCache,
    pub(crate) reuse: Reuse,
    pub(crate) memory: usize,
    /// That of all instances of the server together.
    pub(crate) total_memory: TotalMemory,
    pub(crate) time: Duration,
    pub(crate) fuel: Option<u64>,
    /// The time of its page for a request that failed.
    pub(crate) error_page_time: Duration,
    pub(crate) instances: u32,
    pub(crate) database_size: u64,
    /// The address of a database of PostgreSQL.
    pub(crate) database: Option<Secret<String>>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) dirs: Vec<Dir>,
    pub(crate) allow_out: Reach,
    /// Folders served without the component: a prefix, and the folder.
    pub(crate) files: Vec<(String, PathBuf)>,
    /// The path of the request that a version answers before it serves.
    pub(crate) probe: String,
    pub(crate) watch: bool,
    /// Whether code of the baseline compiler may run.
    pub(crate) baseline: bool,
    /// The names of the settings that the application in it declares.
    pub(crate) declared: Vec<String>,
    /// Its caches: a name, and the tiers.
    pub(crate) caches: Vec<(String, Vec<String>)>,
    /// The setting `page_fault_shortcut`: see [`crate::sys::FaultShortcut`].
    pub(crate) page_fault_shortcut: bool,
    pub(crate) data: AppData,
}

impl Options {
    /// `asks`: the component asks for more than WASI has. What does not is given what was said, and nothing else.
    pub(crate) fn grants(&self, clock: &Arc<Clock>, asks: bool) -> Result<Grants, Error> {
        let (env, dirs) = (self.env.clone(), self.dirs.clone());
        let (version, env, dirs) = if asks { self.data.open(&self.shared(), env, dirs)? } else { (None, env, dirs) };
        Ok(Grants {
            clock: Arc::clone(clock),
            name: self.name.clone(),
            memory: self.memory,
            total_memory: self.total_memory.clone(),
            reuse: self.reuse,
            env,
            dirs,
            allow_out: Arc::new(self.allow_out.clone()),
            version,
            is_check: self.data.is_check(),
        })
    }

    /// What its data is opened with.
    pub(crate) fn shared(&self) -> DataOptions<'_> {
        let Self { name, caches, declared, database_size, database, .. } = self;
        DataOptions { name, caches, declared, database_size: *database_size, database: database.as_ref() }
    }

    /// `counts_fuel`: an engine that counts it wants to be told how much there is.
    pub(crate) fn limits(&self, counts_fuel: bool) -> Limits {
        let fuel = self.fuel.or(counts_fuel.then_some(u64::MAX));
        let Self { time, error_page_time, instances, .. } = *self;
        Limits { time, ticks: Clock::ticks(time), fuel, error_page_time, instances }
    }
}
