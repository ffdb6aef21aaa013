//! The caches of an application and their tiers.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
#[cfg(not(target_family = "wasm"))]
use skep_cache::Driver;
use skep_cache::Stats;
use skep_units::{lock, read_lock, write_lock};

use super::entry::{PageCodec, PageEntry};
use super::store::{Backend, Cache, Store};
use super::tiers::Tiers;
use super::{Builder, Clock, EntryPolicy};
use crate::context::setup::Setup;
use crate::link::BaseUrl;
use crate::sql::{ANY_TABLE, OnCommit};
#[cfg(not(target_family = "wasm"))]
use crate::status::Part;
use skep_http::error::{Error, Result};

/// The caches of a running application.
pub(crate) struct Caches {
    /// Configured tiers by the name of the cache; `default` applies to all others.
    plans: HashMap<String, Tiers>,
    usual: Tiers,
    /// The names of the application and its site, for file names.
    program: String,
    /// Distinguishes this site from others in the same storage.
    site: String,
    /// Entries of another build are not used.
    build: u32,
    clock: Clock,
    drivers: Mutex<HashMap<String, Open>>,
    /// By name.
    stores: RwLock<HashMap<&'static str, Typed>>,
    /// Shared by all threads; each thread caches a handle.
    pages: Mutex<Option<Arc<Pages>>>,
    #[cfg(target_family = "wasm")]
    host: Option<&'static crate::host::component::functions::CacheFunctions>,
    /// One of them waits for a disk or a network to invalidate something.
    waits: bool,
    /// Tables of which no page is invalidated: [`App::ignore_writes`](crate::App::ignore_writes).
    ignored_tables: Vec<&'static str>,
    /// Who hears of writes: [`App::on_write`](crate::App::on_write).
    observers: Vec<WriteObserver>,
}

/// What [`App::on_write`](crate::App::on_write) was given.
pub(crate) type WriteObserver = Box<dyn Fn(&[u64]) + Send + Sync>;

/// The cache of pages and fragments.
pub(crate) type Pages = skep_cache::Cache<[u8], PageEntry, Arc<Backend>, PageCodec>;

/// A [`Cache`] of some types, which, and its counters.
type Typed = (TypeId, Arc<dyn Any + Send + Sync>, Arc<dyn Fn() -> Stats + Send + Sync>);

/// A driver, and a cache on it that only invalidates.
#[derive(Clone)]
struct Open {
    driver: Arc<Backend>,
    tags: Cache<str, ()>,
}

/// The cache of pages and fragments.
const PAGES: &str = "pages";
/// The session store.
const SESSIONS: &str = "sessions";
/// For caches without their own configuration.
const DEFAULT: &str = "default";
/// The default tiers. Memory is allocated as the cache fills. Without a host cache a component caches nothing: its
/// memory is gone after the request.
const USUAL: &str = if cfg!(target_family = "wasm") { "null" } else { "memory:16MiB" };
/// How long a stale page is served while one request renders it again.
const STALE: Duration = Duration::from_mins(1);

/// The longest name of a store: a namespace has 64 bytes.
const MOST_NAME: usize = 48;

/// The id of a site: one program may serve several, each with its own data directory, or database, and host.
fn site(setup: &Setup, program: &str, base_url: Option<&BaseUrl>) -> String {
    // Machines have a directory each, and one database, as any of its users.
    let place = |address: &str| address.split('?').next()?.rsplit("://").next()?.rsplit('@').next().map(Into::into);
    let database = setup.database.as_ref().filter(|_| setup.cluster).and_then(|address| place(address.reveal()));
    let data = database.unwrap_or_else(|| std::path::absolute(&setup.data).unwrap_or_else(|_| setup.data.clone()));
    let digest = Sha256::new()
        .chain_update(program)
        .chain_update([0])
        .chain_update(data.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(base_url.map_or("", BaseUrl::as_str))
        .finalize();
    digest[..6].iter().fold(String::new(), |site, byte| format!("{site}{byte:02x}"))
}

/// Stores of the framework's own and of its accounts: rate limits, attempts to sign in or to have mail sent, and what
/// providers to sign in with say of themselves.
const BUILT_IN: [&str; 5] = ["skep-limits", "skep-mails", "skep-oidc", "skep-oidc-keys", "skep-sign-in"];

impl Caches {
    pub(crate) fn new(
        setup: &Setup,
        program: &str,
        base_url: Option<&BaseUrl>,
        (ignored_tables, observers): (Vec<&'static str>, Vec<WriteObserver>),
    ) -> Self {
        let site = site(setup, program, base_url);
        let program = program.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "_");
        // What survives a fork is in memory.
        let waits = |(name, plan): (&String, &Tiers)| name != SESSIONS && !plan.needs.survives_fork;
        Self {
            plans: setup.caches.clone(),
            usual: Tiers::parse([USUAL]).expect("it is a list of tiers"),
            program: format!("{program}-{site}"),
            site,
            build: setup.build,
            clock: setup.clock.clone(),
            drivers: Mutex::default(),
            stores: RwLock::default(),
            pages: Mutex::default(),
            #[cfg(target_family = "wasm")]
            host: setup.host.cache,
            waits: setup.caches.iter().any(waits),
            ignored_tables,
            observers,
        }
    }

    /// Problems: tiers that are configured for unknown caches.
    pub(crate) fn unknown(plans: &HashMap<String, Tiers>, stores: &[&'static str]) -> Vec<String> {
        let own = [DEFAULT, PAGES, SESSIONS].into_iter().chain(BUILT_IN);
        let known: Vec<&str> = own.chain(stores.iter().copied()).collect();
        let mut unknown: Vec<&String> = plans.keys().filter(|name| !known.contains(&name.as_str())).collect();
        unknown.sort();
        let problem = |name: &&String| {
            format!(
                "cache.{name}.tiers: there is no cache {name:?}; there are {}. A store of the application is one if it says \
                 `App::store(&STORE)`",
                known.join(", ")
            )
        };
        unknown.iter().map(problem).collect()
    }

    /// Opens the configured caches, so that a wrong configuration fails at the start. The default one is opened on
    /// first use.
    pub(crate) fn open_configured(&self) -> Result<()> {
        self.plans.keys().try_for_each(|name| self.open(name).map(drop))
    }

    /// The driver of a cache that is configured by its own name, and whether writing to it waits for a disk.
    pub(crate) fn configured(&self, name: &str) -> Result<Option<(Arc<Backend>, bool)>> {
        let Some(plan) = self.plans.get(name) else { return Ok(None) };
        Ok(Some((self.open(name)?.driver, plan.needs.blocks)))
    }

    /// True if a cache has tiers of its own. In a component its host knows.
    pub(crate) fn is_configured(&self, name: &str) -> bool {
        self.plans.contains_key(name)
    }

    /// True if the driver of this cache is open: to ask for it waits for nothing.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn is_open(&self, name: &str) -> bool {
        let name = self.plan(name).0;
        lock(&self.drivers).contains_key(name)
    }

    /// The driver of caches that are not configured, and whether writing to it waits for a disk.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn usual_place(&self) -> Result<(Arc<Backend>, bool)> {
        Ok((self.open(DEFAULT)?.driver, self.plan(DEFAULT).1.needs.blocks))
    }

    /// True if the host of this component keeps what is kept.
    #[cfg(target_family = "wasm")]
    fn is_hosted(&self) -> bool {
        self.host.is_some()
    }

    #[cfg(not(target_family = "wasm"))]
    #[expect(clippy::unused_self, reason = "a component asks")]
    fn is_hosted(&self) -> bool {
        false
    }

    fn plan<'n>(&'n self, name: &'n str) -> (&'n str, &'n Tiers) {
        #[cfg(target_family = "wasm")]
        if self.is_hosted() {
            // Which tiers that name means, the host knows.
            return (name, &self.usual);
        }
        match self.plans.get(name) {
            Some(plan) => (name, plan),
            None => (DEFAULT, self.plans.get(DEFAULT).unwrap_or(&self.usual)),
        }
    }

    fn open(&self, name: &str) -> Result<Open> {
        let (name, plan) = self.plan(name);
        let mut drivers = lock(&self.drivers);
        if let Some(open) = drivers.get(name) {
            return Ok(open.clone());
        }
        let driver = Arc::new(self.place(name, plan)?);
        let tags =
            skep_cache::Cache::<str, ()>::builder("tags").clock(self.clock.clone()).build(Arc::clone(&driver))?;
        let open = Open { driver, tags };
        drivers.insert(name.to_owned(), open.clone());
        Ok(open)
    }

    #[cfg(not(target_family = "wasm"))]
    fn place(&self, name: &str, plan: &Tiers) -> Result<Backend> {
        Ok(plan.plan.open(&format!("{}-{name}", self.program))?)
    }

    #[cfg(target_family = "wasm")]
    fn place(&self, name: &str, plan: &Tiers) -> Result<Backend> {
        match self.host {
            Some(functions) => Ok(Backend::Host(functions, name.to_owned())),
            None => Ok(Backend::Own(plan.plan.open(&format!("{}-{name}", self.program))?)),
        }
    }

    /// The cache of pages and fragments; none if it would keep nothing.
    pub(crate) fn pages(&self) -> Result<Option<Arc<Pages>>> {
        if !self.is_hosted() && self.plan(PAGES).1.needs.keeps_nothing {
            return Ok(None);
        }
        let known = lock(&self.pages).clone();
        if known.is_some() {
            return Ok(known);
        }
        // No store has such a name.
        let builder = skep_cache::Cache::builder(&format!("#{PAGES}@{}", self.site))
            .codec(PageCodec)
            .schema(self.build)
            .stale(STALE)
            .clock(self.clock.clone());
        let made = Arc::new(builder.build(self.open(PAGES)?.driver)?);
        let mut pages = lock(&self.pages);
        Ok(Some(Arc::clone(pages.get_or_insert(made))))
    }

    /// Closes connections that a forked child must not share. They are reopened on use.
    pub(crate) fn close_for_fork(&self) {
        let is_kept = |name: &str| self.plan(name).1.needs.survives_fork;
        lock(&self.drivers).retain(|name, _| is_kept(name));
        write_lock(&self.stores).retain(|name, _| is_kept(name));
        if !is_kept(PAGES) {
            *lock(&self.pages) = None;
        }
    }

    /// The cache of a store.
    pub(crate) fn of<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Result<Cache<K, V>> {
        let types = TypeId::of::<Cache<K, V>>();
        let known = read_lock(&self.stores).get(store.name).cloned();
        let (there, cache, _) = match known {
            Some(known) => known,
            None => {
                let settings: Builder<K, V> = (store.settings)(
                    skep_cache::Cache::builder(&self.namespace(store.name)?).clock(self.clock.clone()),
                );
                let cache: Cache<K, V> = settings.build(self.open(store.name)?.driver)?;
                let mut stores = write_lock(&self.stores);
                let counted = cache.clone();
                stores
                    .entry(store.name)
                    .or_insert_with(|| (types, Arc::new(cache), Arc::new(move || counted.stats())))
                    .clone()
            }
        };
        match cache.downcast_ref::<Cache<K, V>>() {
            Some(cache) if there == types => Ok(cache.clone()),
            _ => Err(Error::internal(format!(
                "two stores are named {:?}, and one of them is not a `{}`",
                store.name,
                type_name::<Store<K, V>>()
            ))),
        }
    }

    fn namespace(&self, store: &str) -> Result<String> {
        let is_name = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"-_".contains(&letter);
        if !(1..=MOST_NAME).contains(&store.len()) || !store.bytes().all(is_name) {
            return Err(Error::internal(format!(
                "{store:?} is no name of a store: that has 1 to {MOST_NAME} of the characters a-z, 0-9, - and _"
            )));
        }
        Ok(format!("{store}@{}", self.site))
    }

    /// What caches have done and drivers hold, for the status.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn status(&self) -> Vec<Part> {
        let pages = lock(&self.pages).clone();
        let pages = pages.map(|pages| (PAGES, pages.stats()));
        let stores = read_lock(&self.stores);
        let counted = stores.iter().map(|(name, (.., stats))| (*name, stats()));
        let mut parts: Vec<Part> =
            pages.into_iter().chain(counted).map(|(name, stats)| of_stats(name, stats)).collect();
        drop(stores);
        let drivers = lock(&self.drivers);
        parts.extend(drivers.iter().map(|(name, open)| of_usage(&format!("tiers {name}"), &open.driver)));
        parts.sort_by(|one, other| one.name().cmp(other.name()));
        parts
    }

    /// Writes back what tiers have buffered (`writes=back`).
    pub(crate) async fn flush(&self) -> Result<()> {
        let drivers = lock(&self.drivers).values().cloned().collect::<Vec<_>>();
        for open in drivers {
            open.driver.flush(self.clock.now()).await?;
        }
        Ok(())
    }

    /// Invalidates all entries with this tag, in all caches.
    pub(crate) async fn invalidate(&self, tag: &str) -> Result<()> {
        // The host has the entries and the clock: start-up work, whose memory is copied, cannot use its own.
        #[cfg(target_family = "wasm")]
        if let Some(host) = self.host {
            return Ok(host.invalidate(tag)?);
        }
        self.open_configured()?;
        self.invalidate_where(tag, |_| true).await
    }

    /// Invalidates all entries with this tag in the open caches of these names. The default cache is empty unless it is
    /// open.
    async fn invalidate_where(&self, tag: &str, is_meant: impl Fn(&str) -> bool) -> Result<()> {
        let meant: Vec<Open> = {
            let drivers = lock(&self.drivers);
            drivers.iter().filter(|(name, _)| is_meant(name)).map(|(_, open)| open.clone()).collect()
        };
        let mut result = Ok(());
        for open in meant {
            let done = open.tags.invalidate_tag(tag).await;
            // A failure does not skip the other caches.
            result = result.and(done.map_err(Error::from));
        }
        result
    }

    /// Invalidates all entries with one of these tags where no other process does: in open caches that are in the
    /// memory of this one.
    pub(crate) async fn invalidate_local(&self, tags: &[u64]) -> Result<()> {
        let local: Vec<Open> = {
            let drivers = lock(&self.drivers);
            let local = drivers.iter().filter(|(name, _)| !self.plan(name).1.needs.leaves_process);
            local.map(|(_, open)| open.clone()).collect()
        };
        for (open, tag) in local.iter().flat_map(|open| tags.iter().map(move |tag| (open, *tag))) {
            open.tags.invalidate_tag_id(tag).await?;
        }
        Ok(())
    }

    /// True if an open cache is shared with other processes.
    pub(crate) fn are_shared(&self) -> bool {
        let is_shared = |name: &String| name != SESSIONS && self.plan(name).1.needs.leaves_process;
        lock(&self.drivers).keys().any(is_shared)
    }

    /// The ids of the tags of tables, but for those whose writes are ignored.
    pub(crate) fn tag_ids_of<'t>(&self, tables: impl IntoIterator<Item = &'t str>) -> Vec<u64> {
        tables.into_iter().filter(|table| !self.ignored_tables.contains(table)).flat_map(tag_ids).collect()
    }

    /// The tags of what is made of these tables.
    pub(crate) fn tags_of_tables(&self, tables: &[&'static str]) -> Vec<u64> {
        let mut read = tables.iter().copied().filter(|table| !self.ignored_tables.contains(table)).peekable();
        let any = read.peek().filter(|_| !tables.contains(&ANY_TABLE)).map(|_| ANY_TABLE);
        read.chain(any).flat_map(tag_ids).collect()
    }

    /// Tells who hears of writes, once what was made of the tables is invalidated.
    fn tell_observers(&self, tables: &[&'static str]) {
        let written = self.tag_ids_of(tables.iter().copied());
        if !written.is_empty() {
            self.observers.iter().for_each(|observer| observer(&written));
        }
    }
}

impl OnCommit for Caches {
    fn tables_changed(&self, tables: &[&'static str]) {
        for table in tables.iter().filter(|table| !self.ignored_tables.contains(table)) {
            let tag = table_tag(table);
            #[cfg(target_family = "wasm")]
            let done = skep_cache::driver::block_on(self.invalidate(&tag));
            // Each commit does this: sessions, which have no tags, would wait for their disk.
            #[cfg(not(target_family = "wasm"))]
            let done = skep_cache::driver::block_on(self.invalidate_where(&tag, |name| name != SESSIONS));
            if let Err(error) = done {
                tracing::error!(
                    target: "skep::cache", tag, %error,
                    "cannot invalidate what was made of a table that has changed: it may be stale until it expires"
                );
            }
        }
        if !self.observers.is_empty() {
            self.tell_observers(tables);
        }
    }

    fn blocks(&self) -> bool {
        self.waits
    }
}

/// The ids of the tag of a table.
fn tag_ids(table: &str) -> Vec<u64> {
    EntryPolicy::new(Duration::MAX).tag(&table_tag(table)).tags().to_vec()
}

/// The tag of what is made of a table.
fn table_tag(table: &str) -> String {
    format!("table:{table}")
}

#[cfg(not(target_family = "wasm"))]
fn of_stats(name: &str, stats: Stats) -> Part {
    let Stats { hits, misses, stale, coalesced, computations, failures, .. } = stats;
    let part = Part::new(format!("cache {name}"))
        .line(format!("{hits} hits ({stale} stale), {misses} misses, {computations} computed, {coalesced} waited for another's computation, {failures} failures"));
    let part =
        part.value("hits", hits).value("misses", misses).value("stale", stale).value("computations", computations);
    part.value("coalesced", coalesced).value("failures", failures).value("breaker_open", stats.breaker_open)
}

/// What a driver holds.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn of_usage(name: &str, driver: &Backend) -> Part {
    let usage = driver.usage();
    let known = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let (entries, bytes, evicted) = (known(usage.entries), known(usage.bytes), known(usage.evicted));
    let part = Part::new(name)
        .line(format!("{}: {entries} entries, {bytes} bytes, {evicted} evicted", driver.name()))
        .value("driver", driver.name());
    let numbers = [("entries", usage.entries), ("bytes", usage.bytes), ("evicted", usage.evicted)];
    numbers
        .into_iter()
        .filter_map(|(key, number)| Some((key, number?)))
        .fold(part, |part, (key, number)| part.value(key, number))
}

#[cfg(test)]
#[path = "../../../tests/unit/cache/caches.rs"]
mod tests;
