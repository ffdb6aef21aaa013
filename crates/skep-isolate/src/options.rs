//! The options of one component: the settings `component.memory` for all of them, with a flag, and
//! `component.NAME.memory` for one.

mod read;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skep::Secret;
use skep::settings::Row;
use skep_server::outgoing::Reach;
use skep_settings::{DAY, GIB, Group, KIB, MIB, SECOND, settings};

use crate::clock::Clock;
use crate::data::{AppData, DataOptions};
use crate::error::Error;
use crate::limits::Limits;
use crate::reuse::{ModuleCache, Reuse};
use crate::state::{Dir, Grants, TotalMemory};

/// Instances of all applications together. Each has address space of more than 4 GiB, and twice that if it has two
/// memories; a process has 128 TiB.
pub(crate) const MOST_INSTANCES: u32 = 10_000;

const INSTANCES: u64 = MOST_INSTANCES as u64;
const YEAR: u64 = 366 * DAY;
const SWITCH: &[&str] = &["true", "false"];
const OUT: &str = "hosts, such as api.example.org, api.example.org:8443, 10.0.0.7:8080, * or private";
const HOST: &str = "the name of a host, such as example.org or *.example.org";

settings! {
    /// What one application is served with.
    #[derive(Clone, Debug)]
    pub(crate) struct Options in "component" {
        /// State with which a request begins. `snapshot`: an instance of its own, restored from a snapshot taken after
        /// the start-up code (the function `init` that components of Skep export, or `wizer-initialize`). `cold`: an
        /// instance of its own, in which start-up code runs again. `cached`: an instance that has served before, with
        /// its statics: data of one user may reach the next. `snapshot,cold`: `snapshot`, and `cold` if a snapshot
        /// cannot be taken.
        module_cache: ModuleCache = Choice(ModuleCache::WORDS),
            ModuleCache::Snapshot.word(), flag "--module-cache" "MODE";
        reuse: Reuse;
        /// Maximum memory of an instance. Beyond it `memory.grow` fails, which ends most programs (500).
        memory: usize = Size(64 * KIB..=4 * GIB), 128 * MIB, flag "--memory" "SIZE";
        /// Time limit of a request until its response is complete, waiting included (504, or a response that is cut
        /// off).
        time: Duration = Duration(1..=YEAR), 30 * SECOND, flag "--time" "TIME";
        /// Maximum number of instructions of a request, roughly (504). 0 means no limit. Counting slows all components
        /// by about a quarter; `component.time` costs nothing.
        fuel: Option<u64> = Number(0..=u64::MAX), 0, flag "--fuel" "N";
        /// Time limit of the error page that an application of Skep draws for a request whose instance failed. Beyond
        /// it the server's own page is sent.
        error_page_time: Duration = Duration(1..=YEAR), SECOND, flag "--error-page-time" "TIME";
        /// Maximum number of instances at the same time; further requests are refused (503). Many components share
        /// 10000 if this is not set.
        instances: u32 = Number(1..=INSTANCES), 1000, flag "--instances" "N";
        /// Maximum size of the database of an application of Skep; beyond it, writes fail (503). Directories that it
        /// may write to have no such limit.
        database_size: u64 = Size(64 * KIB..=1024 * GIB), GIB, flag "--database-size" "SIZE";
        /// Address of a PostgreSQL database for the component, an application of Skep with migrations for PostgreSQL:
        /// `postgres://USER:PASSWORD@HOST/NAME`. Empty means the server's `database`, and if that is empty, too,
        /// SQLite.
        database: Option<Secret<String>> = Text, "";
        /// Environment variables of the component. NAME alone passes the server's own variable.
        env: Vec<(String, String)> = List("NAME=VALUE, or NAME for the server's own"),
            "", by read::env, flag "--env" "NAME=VALUE";
        /// Directories that the component may read, under NAME if given: `data::/data`. With `::rw` it may write, too.
        dirs as "component.dir": Vec<Dir> = List("DIR, DIR::NAME or DIR::NAME::rw"),
            "", by read::dirs, flag "--dir" "DIR[::NAME][::rw]";
        /// Hosts to which the component may send requests: `api.example.org`, with a port (`api.example.org:8443`),
        /// `*.example.org`, or `*` for all. The address that a host leads to must be of the public internet or one of
        /// the list itself (`10.0.0.7:8080`); the word `private` in the list allows all. A component has no sockets of
        /// its own.
        allow_out: Reach = List(OUT), "", by Reach::parse, flag "--allow-out" "HOST[:PORT]";
        /// Directories served without the component: `/static=public`. A file that does not exist is a 404.
        files: Vec<(String, PathBuf)> = List("PREFIX=DIR, such as /static=public"),
            "", by read::files, flag "--files" "PREFIX=DIR";
        /// Host names that the component serves; `*.example.org` is every name below it. Empty means every host.
        hosts as "component.host": Vec<String> = List(HOST), "", by read::hosts, flag "--host" "NAME";
        /// Path that the component serves, with all below it. The component sees the whole path.
        prefix: String = Path, "/", by read::prefix, flag "--prefix" "PATH";
        /// Path of the request that a version answers before it serves; a status of 500 or above rejects the version.
        probe: String = Path, "/", by read::path, flag "--probe" "PATH";
        /// Tiers of the cache NAME of an application of Skep (`pages`, `sessions`, `default`, its own), from near to
        /// far: `pages=memory:64MiB; redis:cache1`. A tier without a name belongs to the cache before it.
        caches as "component.cache": Vec<(String, Vec<String>)> = List("NAME=TIER, and more tiers as elements of their own"),
            "", by read::caches, flag "--cache" "NAME=TIERS";
        /// Swap to a changed file while the server runs. A file that does not compile, or fails its probe, changes
        /// nothing.
        watch: bool = Choice(SWITCH), "true", by read::switch, flag "--watch" "true|false";
        /// Serve a new version with code of the baseline compiler, which compiles seven times as fast, until optimised
        /// code is ready. Turn it on for components that you trust: it is the younger of the compilers. Not with
        /// `cached`, `fuel`, more than 1500 instances in all, or WASI 0.3.
        baseline: bool = Choice(SWITCH), "false", by read::switch, flag "--baseline" "true|false";
        /// `snapshot`: skip the scan for written pages when an instance is reset and its thread has met no page fault
        /// since the last reset, which saves some 3 us of CPU per request. The kernel does not promise that its fault
        /// counter tells this: one use in 64 is checked, and a missed page is an error in the log, discards the
        /// instance and turns the shortcut off until the server restarts.
        page_fault_shortcut: bool = Choice(SWITCH), "false", by read::switch, flag "--page-fault-shortcut" "true|false";
    }
    and {
        pub(crate) name: String,
        pub(crate) file: PathBuf,
        /// The memory of all instances of the server together.
        pub(crate) total_memory: TotalMemory,
        /// The names of the settings that the application in it declares.
        pub(crate) declared: Vec<String>,
        pub(crate) data: AppData,
    }
}

/// The rows for all components, each followed by that for one.
pub(crate) fn rows() -> impl Iterator<Item = Row> {
    Options::rows().into_iter().flat_map(|all| {
        let help = format!("The same for the component NAME. `{}` applies where this is not set.", all.name);
        let name = all.name.replace("component.", "component.NAME.");
        let one = Row { name: name.into(), default: "".into(), flag: None, help: help.into(), ..all.clone() };
        [all, one]
    })
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
