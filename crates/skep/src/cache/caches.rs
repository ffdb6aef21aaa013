//! The caches of an application: which there are, and on which tiers.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use skep_cache::tiers::{self, Plan};

use super::kept::Kept;
use super::{Builder, Cache, Clock, Store};
use crate::error::{Error, Result};

/// The tiers of one cache, as a configuration describes them: near to far, such as `memory:64MiB` and `redis:cache1:6379`.
/// [`skep_cache::tiers::Plan`] has the table of descriptions.
///
/// ```
/// use skep::cache::Tiers;
///
/// assert!(Tiers::parse(["memory:64MiB"]).is_ok());
/// assert!(Tiers::parse(["memory:64MB"]).unwrap_err().to_string().contains("\"64MB\" is no size"));
/// ```
#[derive(Clone, Debug)]
pub struct Tiers {
    plan: Plan,
    keeps_nothing: bool,
    /// Writing waits for a disk, in place.
    blocks: bool,
}

impl Tiers {
    /// Understands a list of descriptions, near to far.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self, NotTiers> {
        let list: Vec<T> = list.into_iter().collect();
        let keeps_nothing = list.iter().all(|tier| tier.as_ref() == "null");
        let is = |tier: &T, kinds: [&str; 2]| kinds.iter().any(|kind| tier.as_ref().starts_with(kind));
        let waits_for_disk = |tier: &T| is(tier, ["sqlite", "file"]) && !tier.as_ref().contains("pool=yes");
        // What is asked over a connection needs the runtime of its thread, and waits there without blocking.
        let blocks = list.iter().any(waits_for_disk) && !list.iter().any(|tier| is(tier, ["memcached", "redis"]));
        Ok(Self { plan: Plan::parse(list).map_err(NotTiers)?, keeps_nothing, blocks })
    }
}

/// A list of tiers is wrong: which, what is wrong with it, and what would be right.
#[derive(Debug)]
pub struct NotTiers(skep_cache::Error);

impl fmt::Display for NotTiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotTiers {}

/// The caches of a running application.
pub(crate) struct Caches {
    /// Which caches have tiers of their own, by name; `default` is for all others.
    plans: HashMap<String, Tiers>,
    usual: Tiers,
    /// The application's name, for the names of files.
    program: String,
    /// Tells what another build of the application kept from what this one does.
    build: u32,
    clock: Clock,
    drivers: Mutex<HashMap<String, Open>>,
    /// By name.
    stores: RwLock<HashMap<&'static str, Typed>>,
    pages: OnceLock<Cache<[u8], Kept>>,
}

/// A [`Cache`] of some types, and which.
type Typed = (TypeId, Arc<dyn Any + Send + Sync>);

/// A driver, and a cache on it that only invalidates.
#[derive(Clone)]
struct Open {
    driver: Arc<tiers::Tiers>,
    tags: Cache<str, ()>,
}

/// Where pages and fragments are kept.
const PAGES: &str = "pages";
/// For all caches without tiers of their own.
const DEFAULT: &str = "default";
/// What the default is if nobody says otherwise. It takes memory only as it fills.
const USUAL: &str = "memory:16MiB";
/// So long a page is shown after its end, while one request makes it anew.
const STALE: Duration = Duration::from_mins(1);

impl Caches {
    pub(crate) fn new(plans: HashMap<String, Tiers>, program: &str, build: u32, clock: Clock) -> Self {
        Self {
            plans,
            usual: Tiers::parse([USUAL]).expect("it is a list of tiers"),
            program: program.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "_"),
            build,
            clock,
            drivers: Mutex::default(),
            stores: RwLock::default(),
            pages: OnceLock::new(),
        }
    }

    /// Opens what is configured, to find what is wrong with it before a request does. The usual one is opened when it is
    /// first used: an application that keeps nothing has none.
    pub(crate) fn open_configured(&self) -> Result<()> {
        self.plans.keys().try_for_each(|name| self.open(name).map(drop))
    }

    /// The driver of a cache that is configured by its own name, and whether writing to it waits for a disk.
    pub(crate) fn configured(&self, name: &str) -> Result<Option<(Arc<tiers::Tiers>, bool)>> {
        let Some(plan) = self.plans.get(name) else { return Ok(None) };
        Ok(Some((self.open(name)?.driver, plan.blocks)))
    }

    fn plan<'n>(&'n self, name: &'n str) -> (&'n str, &'n Tiers) {
        match self.plans.get(name) {
            Some(plan) => (name, plan),
            None => (DEFAULT, self.plans.get(DEFAULT).unwrap_or(&self.usual)),
        }
    }

    fn open(&self, name: &str) -> Result<Open> {
        let (name, plan) = self.plan(name);
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = drivers.get(name) {
            return Ok(open.clone());
        }
        let driver = Arc::new(plan.plan.open(&format!("{}-{name}", self.program))?);
        let tags =
            skep_cache::Cache::<str, ()>::builder("tags").clock(self.clock.clone()).build(Arc::clone(&driver))?;
        let open = Open { driver, tags };
        drivers.insert(name.to_owned(), open.clone());
        Ok(open)
    }

    /// The cache of pages and fragments; none if it would keep nothing.
    pub(crate) fn pages(&self) -> Result<Option<&Cache<[u8], Kept>>> {
        if let Some(pages) = self.pages.get() {
            return Ok(Some(pages));
        }
        if self.plan(PAGES).1.keeps_nothing {
            return Ok(None);
        }
        let builder = skep_cache::Cache::builder(PAGES).schema(self.build).stale(STALE).clock(self.clock.clone());
        let pages = builder.build(self.open(PAGES)?.driver)?;
        Ok(Some(self.pages.get_or_init(|| pages)))
    }

    /// The cache of a store.
    pub(crate) fn of<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Result<Cache<K, V>> {
        let types = TypeId::of::<Cache<K, V>>();
        let known = self.stores.read().unwrap_or_else(PoisonError::into_inner).get(store.name).cloned();
        let (there, cache) = match known {
            Some(known) => known,
            None => {
                let settings: Builder<K, V> =
                    (store.settings)(skep_cache::Cache::builder(store.name).clock(self.clock.clone()));
                let cache: Cache<K, V> = settings.build(self.open(store.name)?.driver)?;
                let mut stores = self.stores.write().unwrap_or_else(PoisonError::into_inner);
                stores.entry(store.name).or_insert_with(|| (types, Arc::new(cache))).clone()
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

    /// Sends on what tiers have kept for later (`writes=back`).
    pub(crate) async fn flush(&self) -> Result<()> {
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect::<Vec<_>>();
        for open in drivers {
            open.driver.flush(self.clock.now()).await?;
        }
        Ok(())
    }

    /// Voids what has this tag, wherever it is kept.
    pub(crate) async fn invalidate(&self, tag: &str) -> Result<()> {
        self.open_configured()?;
        // The usual one keeps nothing if nobody has opened it yet.
        let drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect::<Vec<_>>();
        let mut result = Ok(());
        for open in drivers {
            let done = open.tags.invalidate_tag(tag).await;
            // One that fails keeps no other from being told.
            result = result.and(done.map_err(Error::from));
        }
        result
    }
}
