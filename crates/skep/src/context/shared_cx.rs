//! Request context without per-user data: all that a cached page may read.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;

use http::header;

use crate::context::cache::{Cache, Store};
use crate::context::resources::ThreadResources;
use crate::link::{self, Destination};
use crate::settings::Settings;
use crate::sql;
use skep_http::request::{Parts, header_text};
use skep_http::validation::Messages;

/// A request without the user: no cookie, no flash message, no address, no header field, and nothing that could set a
/// cookie.
///
/// It is what a [`PublicPage`](crate::cache::PublicPage) and a [`Fragment`](crate::cache::Fragment) are made from, so
/// that what is kept for all contains nothing that is one user's. [`Cx::shared`](crate::Cx::shared) lends it: a
/// function that takes a `&SharedCx` works for both.
///
/// ```
/// use skep::prelude::*;
/// use skep::cache::SharedCx;
///
/// fn home(cx: &SharedCx<'_>) -> String {
///     cx.absolute(Index)
/// }
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result { Ok(Response::text(home(cx.shared()))) }
/// }
/// # assert_eq!(skep::test::Client::new(App::new().serve(services![Index])).get("/").text(), "http://localhost/");
/// ```
///
/// ```compile_fail,E0599
/// fn greeting(cx: &skep::cache::SharedCx<'_>) -> String {
///     cx.cookie("name").unwrap_or("stranger").to_owned() // there is no such method
/// }
/// ```
pub struct SharedCx<'r> {
    parts: &'r Parts,
    tls: bool,
    resources: &'r ThreadResources,
    read: Cell<Inputs>,
    /// The tags that were invalidated.
    invalidated: RefCell<Vec<String>>,
    /// The tags of fragments that were asked for.
    inherited: RefCell<Vec<u64>>,
    /// The database, for what is kept: it notes what is read.
    db: OnceCell<sql::Local>,
    /// The tables that were read, of what is kept.
    tables: Option<sql::ReadTables>,
    /// The response is a page that came out of the cache, or went into it.
    has_whole_page: Cell<bool>,
}

/// What a page read of the request, besides the parameters of its service. What is kept is kept for each value of
/// these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs(u8);

impl Inputs {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const LANGUAGE: Self = Self(1);
    pub(crate) const ORIGIN: Self = Self(1 << 1);

    pub(crate) fn from_bits(bits: u8) -> Self {
        Self(bits & (Self::LANGUAGE.0 | Self::ORIGIN.0))
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl<'r> SharedCx<'r> {
    pub(crate) fn new(parts: &'r Parts, tls: bool, resources: &'r ThreadResources) -> Self {
        Self {
            parts,
            tls,
            resources,
            read: Cell::new(Inputs::NONE),
            invalidated: RefCell::default(),
            inherited: RefCell::default(),
            db: OnceCell::new(),
            tables: None,
            has_whole_page: Cell::new(false),
        }
    }

    /// The same request, of which nothing was read yet.
    pub(crate) fn afresh(&self) -> Self {
        let tables = Some(sql::ReadTables::default());
        Self { tables, ..Self::new(self.parts, self.tls, self.resources) }
    }

    pub(crate) fn parts(&self) -> &'r Parts {
        self.parts
    }

    pub(crate) fn resources(&self) -> &'r ThreadResources {
        self.resources
    }

    /// What was read so far.
    pub(crate) fn inputs(&self) -> Inputs {
        self.read.get()
    }

    pub(crate) fn note(&self, inputs: Inputs) {
        self.read.set(self.read.get().and(inputs));
    }

    /// What is made of this request is void with these tags: those of what it contains.
    pub(crate) fn inherit(&self, tags: &[u64]) {
        let mut inherited = self.inherited.borrow_mut();
        for tag in tags {
            if !inherited.contains(tag) {
                inherited.push(*tag);
            }
        }
    }

    /// The tags of all that was kept and asked for so far.
    pub(crate) fn inherited(&self) -> Vec<u64> {
        self.inherited.borrow().clone()
    }

    /// The tables that were read so far, of a page or fragment.
    pub(crate) fn tables(&self) -> Vec<&'static str> {
        self.tables.as_ref().map(sql::ReadTables::names).unwrap_or_default()
    }

    pub(crate) fn has_whole_page(&self) -> bool {
        self.has_whole_page.get()
    }

    pub(crate) fn set_whole_page(&self) {
        self.has_whole_page.set(true);
    }

    /// The tags that were invalidated so far.
    pub(crate) fn invalidated(&self) -> Vec<String> {
        self.invalidated.take()
    }

    /// The values of these inputs, each behind a zero byte, which none of them contains.
    pub(crate) fn write_values(&self, inputs: Inputs, out: &mut Vec<u8>) {
        if inputs.holds(Inputs::LANGUAGE) {
            out.push(0);
            out.extend_from_slice(self.messages().language.as_bytes());
        }
        if inputs.holds(Inputs::ORIGIN) {
            out.push(0);
            out.extend_from_slice(self.own_origin().as_bytes());
        }
    }

    /// True if the application runs in development: error pages show all, nothing is kept long.
    #[must_use]
    pub fn in_development(&self) -> bool {
        self.resources.shared().setup.development
    }

    /// The value given to [`App::state`](crate::App::state): as [`Site::state`](crate::Site::state).
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &'r T {
        self.resources.shared().value()
    }

    /// The settings of this type: as [`Site::settings`](crate::Site::settings).
    #[must_use]
    pub fn settings<T: Settings>(&self) -> &'r T {
        self.resources.shared().settings()
    }

    /// The database. Queries do not block other requests. What is made by a [`PublicPage`](crate::cache::PublicPage) or
    /// a [`Fragment`](crate::cache::Fragment) is invalidated when a table is written that its [`sql!`](crate::sql!)
    /// statements read.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[must_use]
    pub fn db(&self) -> &sql::Local {
        let Some(tables) = &self.tables else { return self.resources.db() };
        self.db.get_or_init(|| self.resources.db().noting(tables.clone()))
    }

    /// One of the databases beside it. An example is at [`NamedDatabase`](sql::NamedDatabase).
    ///
    /// # Panics
    /// If the application does not have it: [`App::database_of`](crate::App::database_of).
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn db_of<D: sql::NamedDatabase>(&self) -> sql::Local {
        let db = self.resources.db_of::<D>();
        self.tables.as_ref().map_or_else(|| db.clone(), |tables| db.noting(tables.clone()))
    }

    /// The data directory of the application.
    #[must_use]
    pub fn data(&self) -> &'r Path {
        &self.resources.shared().setup.data
    }

    /// A cache of values: as [`Site::cache`](crate::Site::cache).
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::cache::{SharedCx, Store};
    ///
    /// const RATES: Store<str, f64> = Store::with("rates", |rates| rates.ttl(Duration::from_mins(10)));
    ///
    /// async fn in_euro(cx: &SharedCx<'_>, dollars: f64) -> skep::Result<f64> {
    ///     // However many ask at once, one fetches.
    ///     Ok(dollars * cx.cache(&RATES).get_or("USD", async || fetch("USD").await).await?)
    /// }
    ///
    /// async fn fetch(currency: &str) -> Result<f64, std::num::ParseFloatError> { if currency == "USD" { "0.86".parse() } else { "".parse() } }
    /// # use skep::prelude::*;
    /// # #[derive(Service)]
    /// # #[service(GET "/price")]
    /// # struct Price;
    /// # impl Handle for Price {
    /// #     async fn handle(self, cx: &mut Cx<'_>) -> Result { Ok(Response::text(in_euro(cx.shared(), 100.0).await?.to_string())) }
    /// # }
    /// # assert_eq!(skep::test::Client::new(App::new().serve(services![Price])).get("/price").text(), "86");
    /// ```
    #[must_use]
    pub fn cache<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Cache<K, V> {
        self.resources.shared().cache(store)
    }

    /// Invalidates all cached pages, fragments and values with this tag, in all tiers. While the request's
    /// [`transaction`](crate::Cx::transaction) is open, others still read what was there before; so once it is kept,
    /// this is done again.
    ///
    /// An example is at [`PublicPage`](crate::cache::PublicPage).
    pub async fn invalidate(&self, tag: &str) -> crate::Result<()> {
        self.invalidated.borrow_mut().push(tag.to_owned());
        self.resources.shared().caches.invalidate(tag).await
    }

    /// Scheme and host of this site, such as `https://example.org`: the setting `base_url`
    /// ([`App::base_url`](crate::App::base_url)), or else what the client used. Without a `Host`, that of a server on
    /// this machine.
    ///
    /// What a client uses, anybody can write into a request. Set the base URL for what others get to see: mails, and
    /// pages that a cache keeps. Without it, a page that asks for the origin is kept for each origin apart.
    #[must_use]
    pub fn origin(&self) -> String {
        if let Some(base) = &self.resources.shared().base_url {
            return base.to_string();
        }
        self.note(Inputs::ORIGIN);
        self.own_origin()
    }

    /// What the client used.
    fn own_origin(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        let host = self.parts.uri.authority().map(http::uri::Authority::as_str);
        let host = host.or_else(|| header_text(&self.parts.headers, &header::HOST)).unwrap_or("localhost");
        format!("{scheme}://{host}")
    }

    /// The whole URL, for feeds and mails: a path of this site behind its [`origin`](Self::origin), that of another
    /// site as it is.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/writings/{page}")]
    /// struct Article { page: Slug }
    ///
    /// impl Handle for Article {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         Ok(Response::text(cx.absolute(self.at("comments"))))
    ///     }
    /// }
    ///
    /// let app = App::new().serve(services![Article]).base_url("https://example.org");
    /// let answer = skep::test::Client::new(app).get("/writings/a-day");
    /// assert_eq!(answer.text(), "https://example.org/writings/a-day#comments");
    /// ```
    #[must_use]
    pub fn absolute(&self, to: impl Destination) -> String {
        link::absolute(&self.origin(), &to)
    }

    /// The language of the request, as [`Cx::language`](crate::Cx::language) says. A page that asks is kept for each
    /// language apart, and says `Vary: Accept-Language` unless its address names the language.
    #[must_use]
    pub fn language(&self) -> &'static str {
        self.note(Inputs::LANGUAGE);
        self.messages().language
    }

    pub(crate) fn messages(&self) -> &'r Messages {
        self.resources.messages(self.parts)
    }
}

skep_units::opaque_debug!(SharedCx<'_>, uri: parts.uri);
