//! The caches of an application: which there are, and on which tiers.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use sha2::{Digest, Sha256};
use skep_cache::tiers::{Needs, Plan};

use super::kept::Kept;
use super::{Builder, Cache, Clock, Place, Store};
use crate::app::Setup;
use crate::error::{Error, Result};
use crate::link::BaseUrl;

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
    needs: Needs,
}

impl Tiers {
    /// Understands a list of descriptions, near to far.
    pub fn parse<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> Result<Self, NotTiers> {
        let plan = Plan::parse(list).map_err(NotTiers)?;
        Ok(Self { needs: plan.needs(), plan })
    }

    /// What whoever runs these tiers must see to: see [`Needs`].
    #[must_use]
    pub fn needs(&self) -> Needs {
        self.needs
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
    /// The application's name and its site's, for the names of files.
    program: String,
    /// Tells this site from others that are kept in the same place.
    site: String,
    /// Tells what another build of the application kept from what this one does.
    build: u32,
    clock: Clock,
    drivers: Mutex<HashMap<String, Open>>,
    /// By name.
    stores: RwLock<HashMap<&'static str, Typed>>,
    /// One for all threads: who makes a page, makes it for them too. Each thread keeps its own hold of it.
    pages: Mutex<Option<Arc<Pages>>>,
    #[cfg(target_family = "wasm")]
    host: Option<&'static crate::component::host::CacheFunctions>,
}

/// The cache of pages and fragments.
pub(crate) type Pages = Cache<[u8], Kept>;

/// A [`Cache`] of some types, and which.
type Typed = (TypeId, Arc<dyn Any + Send + Sync>);

/// A driver, and a cache on it that only invalidates.
#[derive(Clone)]
struct Open {
    driver: Arc<Place>,
    tags: Cache<str, ()>,
}

/// Where pages and fragments are kept.
const PAGES: &str = "pages";
/// What is one user's.
const SESSIONS: &str = "sessions";
/// For all caches without tiers of their own.
const DEFAULT: &str = "default";
/// What the default is if nobody says otherwise. It takes memory only as it fills. Without a host that keeps something for it, a component
/// keeps nothing: its memory is gone after the request.
const USUAL: &str = if cfg!(target_family = "wasm") { "null" } else { "memory:16MiB" };
/// So long a page is shown after its end, while one request makes it anew.
const STALE: Duration = Duration::from_mins(1);

/// The longest name of a store: a namespace has 64 bytes.
const MOST_NAME: usize = 48;

/// What is kept is one site's: the same program may serve several, each with data of its own, and each on its own host.
fn site(setup: &Setup, program: &str, base_url: Option<&BaseUrl>) -> String {
    let data = std::path::absolute(&setup.data).unwrap_or_else(|_| setup.data.clone());
    let digest = Sha256::new()
        .chain_update(program)
        .chain_update([0])
        .chain_update(data.as_os_str().as_encoded_bytes())
        .chain_update([0])
        .chain_update(base_url.map_or("", BaseUrl::as_str))
        .finalize();
    digest[..6].iter().fold(String::new(), |site, byte| format!("{site}{byte:02x}"))
}

impl Caches {
    pub(crate) fn new(setup: &Setup, program: &str, base_url: Option<&BaseUrl>) -> Self {
        let site = site(setup, program, base_url);
        let program = program.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "_");
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
        }
    }

    /// Tiers that are configured for caches that there are not.
    pub(crate) fn unknown(plans: &HashMap<String, Tiers>, stores: &[&'static str]) -> Vec<String> {
        let known: Vec<&str> = [DEFAULT, PAGES, SESSIONS].into_iter().chain(stores.iter().copied()).collect();
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

    /// Opens what is configured, to find what is wrong with it before a request does. The usual one is opened when it is
    /// first used: an application that keeps nothing has none.
    pub(crate) fn open_configured(&self) -> Result<()> {
        self.plans.keys().try_for_each(|name| self.open(name).map(drop))
    }

    /// The driver of a cache that is configured by its own name, and whether writing to it waits for a disk.
    pub(crate) fn configured(&self, name: &str) -> Result<Option<(Arc<Place>, bool)>> {
        let Some(plan) = self.plans.get(name) else { return Ok(None) };
        Ok(Some((self.open(name)?.driver, plan.needs.blocks)))
    }

    /// True if the driver of this cache is open: to ask for it waits for nothing.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn is_open(&self, name: &str) -> bool {
        let name = self.plan(name).0;
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// The driver of caches that are not configured, and whether writing to it waits for a disk.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn usual_place(&self) -> Result<(Arc<Place>, bool)> {
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
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn place(&self, name: &str, plan: &Tiers) -> Result<Place> {
        Ok(plan.plan.open(&format!("{}-{name}", self.program))?)
    }

    #[cfg(target_family = "wasm")]
    fn place(&self, name: &str, plan: &Tiers) -> Result<Place> {
        match self.host {
            Some(functions) => Ok(Place::Host(functions, name.to_owned())),
            None => Ok(Place::Own(plan.plan.open(&format!("{}-{name}", self.program))?)),
        }
    }

    /// The cache of pages and fragments; none if it would keep nothing.
    pub(crate) fn pages(&self) -> Result<Option<Arc<Pages>>> {
        if !self.is_hosted() && self.plan(PAGES).1.needs.keeps_nothing {
            return Ok(None);
        }
        let known = self.pages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_some() {
            return Ok(known);
        }
        // No store has such a name.
        let builder = skep_cache::Cache::builder(&format!("#{PAGES}@{}", self.site))
            .schema(self.build)
            .stale(STALE)
            .clock(self.clock.clone());
        let made = Arc::new(builder.build(self.open(PAGES)?.driver)?);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Some(Arc::clone(pages.get_or_insert(made))))
    }

    /// Closes what copies of this process must not share: connections. They are opened again when they are needed.
    pub(crate) fn close_for_fork(&self) {
        let is_kept = |name: &str| self.plan(name).1.needs.survives_fork;
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner).retain(|name, _| is_kept(name));
        self.stores.write().unwrap_or_else(PoisonError::into_inner).retain(|name, _| is_kept(name));
        if !is_kept(PAGES) {
            *self.pages.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// The cache of a store.
    pub(crate) fn of<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Result<Cache<K, V>> {
        let types = TypeId::of::<Cache<K, V>>();
        let known = self.stores.read().unwrap_or_else(PoisonError::into_inner).get(store.name).cloned();
        let (there, cache) = match known {
            Some(known) => known,
            None => {
                let settings: Builder<K, V> = (store.settings)(
                    skep_cache::Cache::builder(&self.namespace(store.name)?).clock(self.clock.clone()),
                );
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

    fn namespace(&self, store: &str) -> Result<String> {
        let is_name = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"-_".contains(&letter);
        if !(1..=MOST_NAME).contains(&store.len()) || !store.bytes().all(is_name) {
            return Err(Error::internal(format!(
                "{store:?} is no name of a store: that has 1 to {MOST_NAME} of the characters a-z, 0-9, - and _"
            )));
        }
        Ok(format!("{store}@{}", self.site))
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
        // All that is kept is with the host, and so is the time: start-up work, whose memory is copied, cannot ask for it.
        #[cfg(target_family = "wasm")]
        if let Some(host) = self.host {
            return Ok(host.invalidate(tag)?);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_for_a_cache_that_there_is_not_are_a_problem_that_names_those_there_are() {
        let plans = |names: &[&str]| {
            names.iter().map(|name| ((*name).to_owned(), Tiers::parse(["null"]).unwrap())).collect::<HashMap<_, _>>()
        };
        assert!(Caches::unknown(&plans(&["default", "pages", "sessions", "rates"]), &["rates"]).is_empty());
        let problems = Caches::unknown(&plans(&["pages", "pagse"]), &["rates"]);
        assert_eq!(problems.len(), 1);
        let right = "cache.pagse.tiers: there is no cache \"pagse\"; there are default, pages, sessions, rates. ";
        assert!(problems[0].starts_with(right), "{}", problems[0]);
    }

    #[test]
    fn what_one_site_keeps_no_other_sees() {
        let (mut here, mut there) = (Setup::default(), Setup::default());
        (here.data, there.data) = ("/srv/ann".into(), "/srv/bob".into());
        let host: BaseUrl = "https://example.org".parse().unwrap();
        let sites = [
            site(&here, "blog", None),
            site(&there, "blog", None),
            site(&here, "shop", None),
            site(&here, "blog", Some(&host)),
        ];
        for (at, one) in sites.iter().enumerate() {
            assert!(!sites[..at].contains(one), "{at}");
        }
        assert_eq!(site(&here, "blog", Some(&host)), sites[3], "of all processes of a site it is the same");
    }

    #[test]
    fn no_store_is_named_like_another_cache() {
        let caches = Caches::new(&Setup::default(), "blog", None);
        for name in ["", "Rates", "a b", "#pages", &"a".repeat(MOST_NAME + 1)] {
            assert!(caches.namespace(name).is_err(), "{name:?}");
        }
        assert!(caches.namespace(&"a".repeat(MOST_NAME)).unwrap().len() <= 64);
    }
}
