//! What all handlers of an application share: settings, values, the database, caches, sessions, keys.
//!
//! [`Resources`] belong to the process, [`ThreadResources`] to one thread. Neither knows routes or handlers.

pub(crate) mod once;

use std::any::{Any, TypeId, type_name};
#[cfg(not(target_family = "wasm"))]
use std::cell::RefCell;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use skep_units::lock;

use self::once::Ledger;
use crate::context::cache::{Cache, Caches, Pages, Store};
use crate::context::session::{SESSIONS, Sessions};
use crate::context::setup::{Limits, Setup};
use crate::host::mail::{Delivery, Mail, Outbox};
use crate::link::BaseUrl;
use crate::security::keys::AppKeys;
use crate::security::masks::Masks;
use crate::security::origin::{self, OwnOrigins};
use crate::security::rate::{Rate, Table};
use crate::settings::{Holder, Settings};
use crate::sql;
use skep_html::nonce::Scope;
use skep_http::body::drain::DrainSignal;
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
use skep_http::cookie::Cookie;
use skep_http::cookie::PendingCookies;
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::fetch::Fetcher;
use skep_http::log;
use skep_http::quota::Quota;
use skep_http::request::{Parts, Peer, Request};
use skep_http::response::{Response, security_headers};
use skep_http::validation::{LanguageSource, Languages, Messages};

/// The cookie that says how far the log was when a user wrote last, in hexadecimal digits. One that a client makes up
/// has the primary asked.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub(crate) const WRITTEN_COOKIE: &str = "skep-written";

const NO_DATABASE: &str = "this application has no database: add App::database";

/// Values of an application, one of each type: [`App::state`](crate::App::state).
pub(crate) type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// What one process shares between its threads.
pub(crate) struct Resources {
    pub(crate) database: Option<sql::Database>,
    /// Those beside it, by their types.
    #[cfg_attr(target_family = "wasm", expect(dead_code, reason = "a component has none"))]
    pub(crate) databases: Vec<(TypeId, sql::Database)>,
    pub(crate) values: Values,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) forms: Forms,
    pub(crate) caches: Arc<Caches>,
    pub(crate) sessions: Sessions,
    pub(crate) outbox: Outbox,
    pub(crate) fetcher: Option<Arc<dyn Fetcher>>,
    /// Counters of attempts and rates.
    pub(crate) counters: Table,
    /// Of entries that are added to the cache of pages, for each type.
    pub(crate) page_variants: Rate,
    /// Values that are made when they are first asked for.
    pub(crate) made_values: Mutex<Values>,
    pub(crate) security_headers: security_headers::Compiled,
    pub(crate) error_maps: Vec<ErrorMap>,
    /// Sites whose forms and websockets are accepted.
    pub(crate) trusted_origins: Vec<String>,
    /// What logs must not show.
    pub(crate) masks: Masks,
    pub(crate) drain: Arc<DrainSignal>,
    pub(crate) setup: Setup,
}

/// What clients see of an error of the application: [`App::map_error`](crate::App::map_error).
pub(crate) type ErrorMap = Box<dyn Fn(&(dyn StdError + 'static)) -> Option<Error> + Send + Sync>;

/// What the forms of an application share.
pub(crate) struct Forms {
    pub(crate) languages: Languages,
    /// Of the disk, for uploads.
    pub(crate) quota: Quota,
    /// Of memory, for bodies.
    pub(crate) memory: Quota,
    pub(crate) secret: AppKeys,
    pub(crate) once: Ledger,
    /// Of one-shot forms.
    pub(crate) once_rate: Rate,
}

impl Forms {
    pub(crate) fn new(limits: &Limits, secret: AppKeys, languages: Languages, table: &Table) -> Self {
        Self {
            languages,
            quota: Quota::default(),
            memory: Quota::default(),
            secret,
            once: Ledger::new(limits.once),
            once_rate: Rate::new("once", limits.once_per_address, table),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
fn no_database_of<D>() -> String {
    let name = type_name::<D>();
    format!("this application has no database `{name}`: add App::database_of::<{name}>()")
}

/// The resources as one thread uses them; each request works on a copy of its own ([`for_request`](Self::for_request)).
pub(crate) struct ThreadResources {
    thread: Rc<PerThread>,
    /// The database as one request sees it.
    db: OnceCell<sql::Local>,
    /// What it reads, if somebody wants to know.
    reads: OnceCell<sql::ReadTables>,
    /// The others, which the request has used.
    #[cfg(not(target_family = "wasm"))]
    databases: RefCell<Vec<(TypeId, sql::Local)>>,
    /// The user of one request, for logs and error pages.
    user: OnceCell<String>,
    /// The transaction of one request, which may not have begun. Boxed: most requests have none.
    transaction: OnceCell<Box<sql::Transaction>>,
    /// The response to one request may hold what is its user's.
    is_private: Cell<bool>,
    /// The place of the request's language among those of the application, once somebody wanted to know.
    language: Cell<Option<(usize, LanguageSource)>>,
    /// What the browser must get, whatever becomes of the request.
    cookies: PendingCookies,
}

/// The resources of a thread, before anything uses them.
pub(crate) struct Thread(Rc<PerThread>);

impl Thread {
    /// The resources for one piece of work.
    pub(crate) fn resources(&self) -> ThreadResources {
        ThreadResources::of(Rc::clone(&self.0))
    }
}

struct PerThread {
    shared: Arc<Resources>,
    db: Option<sql::Local>,
    #[cfg(not(target_family = "wasm"))]
    databases: Vec<(TypeId, sql::Local)>,
    pages: OnceCell<Option<Arc<Pages>>>,
    /// The application on this thread.
    application: OnceCell<Weak<dyn Answering>>,
}

/// An application on its thread, without its type.
pub(crate) trait Answering {
    fn answer(self: Rc<Self>, request: Request) -> Pin<Box<dyn Future<Output = Response>>>;
}

impl Resources {
    /// True if browsers reach the site over TLS, wherever that ends: the base URL begins with `https://`.
    pub(crate) fn is_https(&self) -> bool {
        self.base_url.as_ref().is_some_and(|base| base.as_str().starts_with("https://"))
    }

    /// True if cookies for this peer are `Secure`, and ours `__Host-`: the browser's connection is encrypted. A proxy
    /// may end TLS, which its fields, an https base URL or the setting `cookies.secure` tell.
    pub(crate) fn is_secure(&self, peer: Peer) -> bool {
        peer.tls || self.is_https() || self.setup.secure_cookies
    }

    /// The origins of this site, for a request of this peer. Without TLS at this server, the scheme is known where the
    /// base URL has the host.
    pub(crate) fn own_origins(&self, parts: &Parts, peer: Peer) -> OwnOrigins<'_> {
        let base = self.base_url.as_ref().and_then(|base| base.as_str().strip_prefix("https://"));
        let is_base = base.is_some_and(|base| origin::authority(parts) == Some(base));
        OwnOrigins { trusted: &self.trusted_origins, tls: peer.tls || is_base, masks: &self.masks }
    }

    /// Gives an error of the application the status and the message that the application has for it. The error stays
    /// the cause.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let Some(cause) = error.unexplained().filter(|_| !self.error_maps.is_empty()) else { return error };
        let mut causes = std::iter::successors(Some(cause), |cause| (**cause).source());
        match causes.find_map(|cause| self.error_maps.iter().find_map(|map| map(cause))) {
            Some(explained) => explained.caused_by(error),
            None => error,
        }
    }

    /// Takes a mail for delivery.
    pub(crate) fn send_mail(&self, mail: Mail) -> Delivery {
        self.outbox.send(self.with_sender(mail))
    }

    pub(crate) fn discard_mail(&self, mail: Mail) {
        self.outbox.discard(self.with_sender(mail));
    }

    fn with_sender(&self, mut mail: Mail) -> Mail {
        mail.from = mail.from.or_else(|| self.setup.mail_from.clone());
        mail
    }

    /// The last step of every response that the application makes itself.
    pub(crate) fn add_security_headers(&self, response: &mut Response, nonce: &Scope, peer: Peer) {
        let tls = peer.tls || self.is_https();
        self.security_headers.add_to(response, nonce.nonce(), tls);
    }

    pub(crate) fn value<T: Send + Sync + 'static>(&self) -> &T {
        let value = self.values.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref());
        value.unwrap_or_else(|| panic!("no `{}` was given to App::state", type_name::<T>()))
    }

    /// The value of this type, if one was given.
    pub(crate) fn find_value<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.values.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref())
    }

    /// The value of this type that was made for the first who asked.
    pub(crate) fn value_or_default<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut made = lock(&self.made_values);
        let value = made.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(value).downcast().expect("it is stored by its type")
    }

    /// The same, to keep for a request.
    pub(crate) fn shared_value<T: Send + Sync + 'static>(&self) -> Arc<T> {
        let value = self.values.get(&TypeId::of::<T>()).cloned().and_then(|value| value.downcast().ok());
        value.unwrap_or_else(|| panic!("no `{}` was given to App::state", type_name::<T>()))
    }

    pub(crate) fn settings<T: Settings>(&self) -> &T {
        let value = self.values.get(&TypeId::of::<Holder<T>>()).and_then(|value| value.downcast_ref::<Holder<T>>());
        let value = value.unwrap_or_else(|| panic!("App::settings::<{}>() is missing", type_name::<T>()));
        &value.0
    }

    pub(crate) fn cache<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Cache<K, V> {
        self.caches.of(store).unwrap_or_else(|error| panic!("{error}"))
    }

    /// All that there are.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn all_databases(&self) -> impl Iterator<Item = &sql::Database> {
        self.database.iter().chain(self.databases.iter().map(|(_, database)| database))
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn database_of<D: sql::NamedDatabase>(&self) -> &sql::Database {
        let found = self.databases.iter().find(|(id, _)| *id == TypeId::of::<D>());
        found.map_or_else(|| panic!("{}", no_database_of::<D>()), |(_, database)| database)
    }

    pub(crate) fn database(&self) -> &sql::Database {
        self.database.as_ref().expect(NO_DATABASE)
    }

    /// Opens the configured caches and the session store, so that a wrong configuration fails before a request does.
    pub(crate) fn open_caches(&self) -> Result<()> {
        self.caches.open_configured()?;
        match self.caches.configured(SESSIONS)? {
            Some((driver, blocks)) => self.sessions.keep_on(driver, blocks),
            None => Ok(()),
        }
    }

    /// Closes what a fork must not share.
    pub(crate) fn close_for_fork(&self) {
        #[cfg(not(target_family = "wasm"))]
        self.all_databases().for_each(sql::Database::close_idle);
        self.caches.close_for_fork();
        self.sessions.close_for_fork();
    }
}

impl ThreadResources {
    pub(crate) fn new(shared: Arc<Resources>) -> Self {
        // Some resources must be reopened after a fork; a failure is reported on first use.
        if let Err(error) = shared.open_caches() {
            tracing::error!(target: "skep::request", "cannot open a cache: {error}");
        }
        let db = shared.database.as_ref().map(sql::Database::local);
        #[cfg(not(target_family = "wasm"))]
        let databases = shared.databases.iter().map(|(id, database)| (*id, database.local())).collect();
        let thread = PerThread {
            db,
            #[cfg(not(target_family = "wasm"))]
            databases,
            pages: OnceCell::new(),
            application: OnceCell::new(),
            shared,
        };
        Self::of(Rc::new(thread))
    }

    fn of(thread: Rc<PerThread>) -> Self {
        Self {
            thread,
            db: OnceCell::new(),
            reads: OnceCell::new(),
            #[cfg(not(target_family = "wasm"))]
            databases: RefCell::default(),
            user: OnceCell::new(),
            transaction: OnceCell::new(),
            is_private: Cell::new(false),
            language: Cell::new(None),
            cookies: PendingCookies::default(),
        }
    }

    /// The thread, for what may need resources later.
    pub(crate) fn thread(&self) -> Thread {
        Thread(Rc::clone(&self.thread))
    }

    /// The resources for one request.
    pub(crate) fn for_request(&self) -> Self {
        Self::of(Rc::clone(&self.thread))
    }

    pub(crate) fn shared(&self) -> &Resources {
        &self.thread.shared
    }

    /// The handler has read, or sends, what is one user's.
    pub(crate) fn set_private(&self) {
        self.is_private.set(true);
    }

    pub(crate) fn is_private(&self) -> bool {
        self.is_private.get()
    }

    pub(crate) fn cookies(&self) -> &PendingCookies {
        &self.cookies
    }

    /// What the browser must get. If its request has written, it says how far the database was then, for the next one
    /// that reads from a replica.
    pub(crate) fn take_cookies(&self, peer: Peer) -> Vec<HeaderValue> {
        #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
        if let Some(place) = self.db.get().and_then(sql::Local::written) {
            let lasts = self.shared().setup.sql.written_cookie_age();
            let cookie = Cookie::new(WRITTEN_COOKIE, format!("{place:x}")).max_age(lasts);
            self.cookies.add(&cookie, self.shared().is_secure(peer));
        }
        _ = peer;
        self.cookies.take()
    }

    /// The first one counts: a later guard may know less.
    pub(crate) fn set_user(&self, user: String) {
        log::set_user(self.user.get_or_init(|| user));
    }

    pub(crate) fn user(&self) -> Option<&str> {
        self.user.get().map(String::as_str)
    }

    /// One of the application's languages; another one changes nothing.
    pub(crate) fn choose_language(&self, language: &str) {
        if let Some(place) = self.shared().forms.languages.find(language) {
            self.language.set(Some((place, LanguageSource::User)));
        }
    }

    /// The place of the language that something of the response depends on already.
    pub(crate) fn known_language(&self) -> Option<usize> {
        self.language.get().map(|(place, _)| place)
    }

    /// Where that was taken from.
    pub(crate) fn language_source(&self) -> Option<LanguageSource> {
        self.language.get().map(|(_, source)| source)
    }

    /// The messages of a request: in the language that was chosen for it, or that it asks for.
    pub(crate) fn messages(&self, parts: &Parts) -> &Messages {
        let languages = &self.shared().forms.languages;
        let (place, source) = self.language.get().unwrap_or_else(|| languages.of_request(parts));
        self.language.set(Some((place, source)));
        languages.at(place)
    }

    pub(crate) fn has_database(&self) -> bool {
        self.thread.db.is_some()
    }

    pub(crate) fn db(&self) -> &sql::Local {
        self.db.get_or_init(|| self.noting(self.thread.db.as_ref().expect(NO_DATABASE).for_request()))
    }

    /// Notes what is read, if somebody wants to know.
    fn noting(&self, db: sql::Local) -> sql::Local {
        match self.reads.get() {
            Some(reads) => db.noting(reads.clone()),
            None => db,
        }
    }

    /// Notes which tables are read from now on.
    pub(crate) fn note_reads(&self) {
        let reads = self.reads.get_or_init(sql::ReadTables::default);
        // What is read by a handle from before is not known.
        if self.db.get().is_some() {
            reads.note_any();
        }
    }

    /// The tables that were read. `None` if nobody wanted to know.
    pub(crate) fn noted_reads(&self) -> Option<Vec<&'static str>> {
        self.reads.get().map(sql::ReadTables::names)
    }

    /// The application on this thread.
    pub(crate) fn application(&self) -> Option<Rc<dyn Answering>> {
        self.thread.application.get()?.upgrade()
    }

    pub(crate) fn set_application(&self, application: Weak<dyn Answering>) {
        _ = self.thread.application.set(application);
    }

    /// The database of this type, as this request sees it: one handle, which knows of its transactions.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn db_of<D: sql::NamedDatabase>(&self) -> sql::Local {
        let id = TypeId::of::<D>();
        let find =
            |list: &[(TypeId, sql::Local)]| list.iter().find(|(known, _)| *known == id).map(|(_, db)| db.clone());
        if let Some(known) = find(&self.databases.borrow()) {
            return known;
        }
        let db = find(&self.thread.databases).unwrap_or_else(|| panic!("{}", no_database_of::<D>()));
        let db = self.noting(db.for_request());
        self.databases.borrow_mut().push((id, db.clone()));
        db
    }

    pub(crate) fn transaction(&self) -> &sql::Transaction {
        self.transaction.get_or_init(|| Box::new(self.db().own_transaction()))
    }

    /// The same, if it is open.
    pub(crate) fn open_transaction(&self) -> Option<&sql::Transaction> {
        self.transaction.get().map(|transaction| &**transaction).filter(|transaction| transaction.is_open())
    }

    /// The cache of pages and fragments, if there is one.
    pub(crate) fn pages(&self) -> Result<Option<&Pages>> {
        if let Some(pages) = self.thread.pages.get() {
            return Ok(pages.as_deref());
        }
        let pages = self.thread.shared.caches.pages()?;
        Ok(self.thread.pages.get_or_init(|| pages).as_deref())
    }
}

skep_units::opaque_debug!(ThreadResources);
