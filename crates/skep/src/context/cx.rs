//! The context of one request, as its handler sees it.

mod cookies;
mod databases;
pub(crate) mod fetch;
mod forms;
mod mail;
mod reader;
mod streams;
mod values;

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::cache::{Cache, Store};
use crate::context::resources::ThreadResources;
use crate::context::session::{self, Session};
use crate::context::setup::Limits;
use crate::context::shared_cx::SharedCx;
use crate::link::Destination;
use crate::offload::offload;
use crate::settings::Settings;
use crate::sql;
use skep_http::body::Body;
use skep_http::error::{Error, Result};
use skep_http::ext::{ErrorExt as _, RequestLogExt as _, StoredFileExt as _};
use skep_http::files::StoredFile;
use skep_http::log;
use skep_http::quota::Share;
use skep_http::request::{Fields, Parts, Peer, RequestId, expect_plain, header_text, read_whole};
use skep_http::validation::Messages;

use self::forms::FormState;
pub(crate) use self::streams::{Watch, WatchResponse, Watching};

/// One request, as its handler sees it.
///
/// It borrows from the request, and so does all that hangs on it: keeping any of it in a `static` does not compile,
/// and no user's data reaches the next user's request that way.
///
/// ```compile_fail
/// use std::sync::Mutex;
/// use skep::Cx;
///
/// static LAST: Mutex<Option<&'static str>> = Mutex::new(None);
///
/// fn remember(cx: &Cx<'_>) {
///     *LAST.lock().unwrap() = cx.cookie("user"); // borrowed data escapes
/// }
/// ```
#[derive(Debug)]
pub struct Cx<'r> {
    shared: SharedCx<'r>,
    peer: Peer,
    body: Body,
    /// In bytes.
    body_limit: u64,
    id: RequestId,
    /// What the answer is to carry; most answers carry nothing of this.
    headers: Option<Box<HeaderMap>>,
    /// What only requests with a form have.
    form: OnceCell<Box<FormState>>,
    /// What only requests with a session have.
    session: OnceCell<Box<session::SessionState>>,
    /// What it holds of the memory for bodies.
    memory: Option<Box<Share>>,
    /// There was a transaction, which perhaps has ended.
    has_begun: Cell<bool>,
    /// The clients of its service read JSON.
    speaks_json: bool,
    /// What is done with a response that goes on, and ends with what a guard has admitted. Boxed: it is rare.
    watches: OnceCell<Box<RefCell<Vec<streams::Watch>>>>,
}

impl<'r> Cx<'r> {
    pub(crate) fn new(
        parts: &'r Parts,
        peer: Peer,
        body: (Body, u64),
        resources: &'r ThreadResources,
        id: RequestId,
    ) -> Self {
        let (body, body_limit) = body;
        Self {
            shared: SharedCx::new(parts, peer.tls, resources),
            peer,
            body,
            body_limit,
            id,
            headers: None,
            form: OnceCell::new(),
            session: OnceCell::new(),
            memory: None,
            has_begun: Cell::new(false),
            speaks_json: false,
            watches: OnceCell::new(),
        }
    }

    /// The same request without the user: what a cached page or fragment is made from.
    #[must_use]
    pub fn shared(&self) -> &SharedCx<'r> {
        &self.shared
    }

    /// True if the application runs in development: error pages show all details.
    #[must_use]
    pub fn in_development(&self) -> bool {
        self.shared.in_development()
    }

    /// The value of this type that was given to [`App::state`](crate::App::state).
    ///
    /// # Panics
    /// If there is no such state: the request is answered with 500, and the log names the type.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &'r T {
        self.shared.state()
    }

    /// The settings of this type: [`App::settings`](crate::App::settings).
    ///
    /// # Panics
    /// If the application does not declare them: the request is answered with 500, and the log names the type.
    #[must_use]
    pub fn settings<T: Settings>(&self) -> &'r T {
        self.shared.settings()
    }

    /// The database. Queries do not block other requests.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[must_use]
    pub fn db(&self) -> &'r sql::Local {
        self.shared.resources().db()
    }

    /// The data directory of the application.
    #[must_use]
    pub fn data(&self) -> &'r Path {
        self.shared.data()
    }

    /// A cache of values; an example is at [`SharedCx::cache`].
    #[must_use]
    pub fn cache<K: ?Sized + 'static, V: 'static>(&self, store: &Store<K, V>) -> Cache<K, V> {
        self.shared.cache(store)
    }

    /// Invalidates all cached pages, fragments and values with this tag: see [`SharedCx::invalidate`].
    pub async fn invalidate(&self, tag: &str) -> Result<()> {
        self.shared.invalidate(tag).await
    }

    /// Scheme and host of this site, such as `https://example.org`: see [`SharedCx::origin`].
    #[must_use]
    pub fn origin(&self) -> String {
        self.shared.origin()
    }

    /// An absolute URL, for feeds and mails; an example is at [`SharedCx::absolute`].
    #[must_use]
    pub fn absolute(&self, to: impl Destination) -> String {
        self.shared.absolute(to)
    }

    pub(crate) fn messages(&self) -> &'r Messages {
        self.shared.messages()
    }

    /// The method of the request. A service for GET also sees HEAD here.
    #[must_use]
    pub fn method(&self) -> &'r Method {
        &self.shared.parts().method
    }

    /// The request target, as it was sent.
    #[must_use]
    pub fn uri(&self) -> &'r Uri {
        &self.shared.parts().uri
    }

    /// The header fields of the request, where they lie: looking some up makes no map of all.
    ///
    /// ```
    /// use skep::header::ACCEPT_LANGUAGE;
    ///
    /// fn speaks_welsh(cx: &skep::Cx<'_>) -> bool {
    ///     cx.fields().get_all(ACCEPT_LANGUAGE).any(|line| line.as_bytes().starts_with(b"cy"))
    /// }
    /// ```
    #[must_use]
    pub fn fields(&self) -> &'r Fields {
        &self.shared.parts().headers
    }

    /// The header fields of the request as a map, which the first call makes. [`fields`](Self::fields) costs less.
    #[must_use]
    pub fn request_headers(&self) -> &'r HeaderMap {
        self.fields().map()
    }

    /// One header field of the request, if it is there and is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&'r str> {
        header_text(&self.shared.parts().headers, name)
    }

    /// The session of this user. An example is at [`Session`].
    ///
    /// It is read on first use, and stored once something is set.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        let cookie = self.cookie(session::cookie_name(self.is_secure()));
        let state = self.session.get_or_init(Box::default);
        let resources = self.shared.resources();
        let shared = resources.shared();
        let store = (&shared.sessions, &shared.forms.secret);
        let how = (self.is_secure(), !self.is_repeated());
        Session::new(state, resources.cookies(), store, cookie, how, self.peer)
    }

    /// Sets a header field of the response, unless the handler's response sets it too.
    pub fn set_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.get_or_insert_default().insert(name, value);
    }

    /// The peer that sent the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// True if cookies are `Secure`, and ours `__Host-`: the browser's connection is encrypted. A proxy may end TLS,
    /// which its fields, an https base URL or the setting `cookies.secure` tell.
    ///
    /// ```
    /// fn cookie_name(cx: &skep::Cx<'_>) -> &'static str { if cx.is_secure() { "__Host-device" } else { "device" } }
    /// ```
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.shared.resources().shared().is_secure(self.peer)
    }

    /// The id of this request: the one that its error page and its log lines show.
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// The value of the header field `traceparent` for requests that the handler makes to other services, so that they
    /// join the trace of this request (W3C Trace Context). With the settings `otlp.*` it names this request as their
    /// parent; otherwise it is what the client sent, if it did. A `tracestate` is passed on as it came:
    /// `cx.request_headers()` has it.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/")]
    /// struct Index;
    ///
    /// impl Handle for Index {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         Ok(Response::text(cx.traceparent().unwrap_or_default()))
    ///     }
    /// }
    ///
    /// let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// let client = skep::test::Client::new(App::new().serve(services![Index]));
    /// assert_eq!(client.request(skep::Method::GET, "/").header("traceparent", sent).send().text(), sent);
    /// ```
    #[must_use]
    pub fn traceparent(&self) -> Option<String> {
        log::with_request(|request| request?.traceparent())
    }

    /// Encrypts a value for a link or a hidden field, so that only this application can read it, unchanged, for this
    /// purpose, and until it expires after `lasts`. The result has letters, digits, `-` and `_`. A value that has no
    /// JSON form is an error.
    ///
    /// The number of a row alone is no good value: a number may be given to another row while the link lasts. Seal
    /// something random of the row with it; `docs/guides/data/sealed-links.md` shows how.
    ///
    /// It may be opened any number of times: what is to happen once needs a mark in the database, or a part of the
    /// value that the act changes, such as the hash of the password that a link in a mail resets.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/unsubscribe/{token}")]
    /// struct Unsubscribe { token: String }
    ///
    /// impl Handle for Unsubscribe {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let address: String = cx.unseal("unsubscribe", &self.token)?.or_404()?;
    ///         Ok(Response::text(format!("no more mails to {address}")))
    ///     }
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(GET "/link")]
    /// struct Link;
    ///
    /// impl Handle for Link {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let token = cx.seal("unsubscribe", "ada@example.org", Duration::from_hours(24))?;
    ///         Ok(Response::text(cx.absolute(Unsubscribe { token })))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Unsubscribe, Link]));
    /// let link = client.get("/link").text().replace("http://localhost", "");
    /// assert_eq!(client.get(&link).text(), "no more mails to ada@example.org");
    /// assert_eq!(client.get("/unsubscribe/forged").status(), 404);
    /// ```
    pub fn seal(&self, purpose: &str, value: &(impl Serialize + ?Sized), lasts: Duration) -> Result<String> {
        self.shared.resources().shared().seal(purpose, value, lasts)
    }

    /// Opens what [`seal`](Self::seal) sealed for the same purpose. `None` if it expired, was changed, or is malformed;
    /// an error if the keys cannot be read.
    pub fn unseal<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Result<Option<T>> {
        self.shared.resources().shared().unseal(purpose, sealed)
    }

    /// The transaction of this request, begun by the first call. It commits if the handler returns `Ok`, and rolls back
    /// if it returns an error, panics, or the client disconnects.
    ///
    /// It borrows nothing of `cx`, so that helpers which take `cx` may be called while it is open. What they write by
    /// [`db`](Self::db) meanwhile is an error at once: there is one writer. Other writers wait while it is open, so do
    /// nothing slow in it. [`sql::Local::transaction`] is one that ends earlier.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::sql::query;
    ///
    /// /// Called from wherever something changes.
    /// async fn audit(cx: &Cx<'_>, text: &str) -> Result<()> {
    ///     cx.transaction().await?.execute(query("insert into audit values (?)", text)).await?;
    ///     Ok(())
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(POST "/move/{amount}")]
    /// struct Move { amount: i64 }
    ///
    /// impl Handle for Move {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let db = cx.transaction().await?;
    ///         db.execute(query("update account set balance = balance - ? where id = 1", self.amount)).await?;
    ///         audit(cx, "moved").await?;
    ///         cx.flash("Moved.");
    ///         db.execute(query("update account set balance = balance + ? where id = 2", self.amount)).await?;
    ///         Ok(Response::text("moved")) // all of it, or nothing
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If the application has no database: [`App::database`](crate::App::database).
    pub async fn transaction(&self) -> Result<&'r sql::Transaction> {
        let transaction = self.shared.resources().transaction();
        transaction.ensure_begun().await?;
        self.has_begun.set(true);
        Ok(transaction)
    }

    /// Runs work that blocks or computes for long on the thread pool for blocking work (`limits.blocking_queue`), so
    /// that other requests of this thread go on: hashing a password, resizing a picture, calling a library that waits.
    /// A panic in it and a full queue are errors, the latter a 503. If the client disconnects, work that has not begun
    /// is skipped, and work that has runs to its end. In a component it runs in place: an instance answers one request.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/primes/{below}")]
    /// struct Primes { below: u32 }
    ///
    /// impl Handle for Primes {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let is_prime = |number: &u32| (2..*number).all(|divisor| number % divisor != 0);
    ///         let count = cx.offload(move || (2..self.below).filter(is_prime).count()).await?;
    ///         Ok(Response::text(count.to_string()))
    ///     }
    /// }
    /// assert_eq!(skep::test::Client::new(App::new().serve(services![Primes])).get("/primes/100").text(), "25");
    /// ```
    pub async fn offload<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        Ok(offload(&*self.shared.resources().shared().setup.offload, work).await?)
    }

    /// Sends one stored file, such as an attachment, after the handler has checked who asks. An example is at
    /// [`StoredFile`].
    pub fn send_file(&self, file: &StoredFile) -> crate::Result {
        self.shared.resources().set_private();
        file.answer(self.method(), self.fields())
    }

    /// Takes the body as a stream, without a limit. A service with form fields or JSON has read it already. The bytes
    /// are as they came, also where `Content-Encoding` names a coding.
    pub fn take_body(&mut self) -> Body {
        std::mem::take(&mut self.body)
    }

    /// Reads the whole body. More bytes than the service (`body = ...`) or the configuration allows are a 413, and one
    /// with a `Content-Encoding`, which nothing here undoes, is a 415.
    pub async fn read_body(&mut self) -> Result<Bytes> {
        expect_plain(self.fields())?;
        let (limit, body, most) = (self.body_limit, self.take_body(), self.limits().bodies);
        read_whole(body, limit, self.memory(), most).await
    }

    /// What this request holds of the memory for bodies (`limits.bodies`), until it is answered.
    pub(crate) fn memory(&mut self) -> &mut Share {
        let quota = &self.shared.resources().shared().forms.memory;
        self.memory.get_or_insert_with(|| Box::new(quota.share()))
    }

    /// Undoes what a handler wrote that refuses its form.
    pub(crate) fn undo(&self) {
        if let Some(transaction) = self.open_transaction() {
            transaction.undo();
        }
    }

    /// The [`transaction`](Self::transaction) of this request, if one is open: for a helper that joins it, and begins
    /// none.
    #[must_use]
    pub fn open_transaction(&self) -> Option<&'r sql::Transaction> {
        self.shared.resources().open_transaction()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.shared.resources().shared().setup.limits
    }

    /// What the client is to see of an error of the application's own.
    pub(crate) fn explain(&self, error: Error) -> Error {
        self.shared.resources().shared().explain(error)
    }

    /// The handler has returned an error.
    pub(crate) fn fail(&self, error: Error) -> Error {
        self.undo();
        let error = match self.session.get() {
            Some(session) if self.in_development() => error.with_session(session.keys()),
            _ => error,
        };
        self.explain(error)
    }

    /// The handler, and the layers around it, have returned `Ok`: commits the transaction of the request
    /// ([`transaction`](Cx::transaction)), and gives the header fields that were noted besides the response.
    pub(crate) async fn complete(&mut self) -> Result<Option<Box<HeaderMap>>> {
        self.form_cookies();
        if self.shared.resources().is_private() {
            let headers = self.headers.get_or_insert_default();
            headers.entry(header::CACHE_CONTROL).or_insert(PRIVATE);
        }
        // Boxed: most requests have changed nothing, and the state of what follows a change would be in the future of
        // each of them.
        if self.has_begun.get() || self.open_transaction().is_some() {
            Box::pin(self.keep()).await?;
        }
        Ok(self.headers.take())
    }

    /// Ends the transaction, and invalidates its tags again: for entries that were made meanwhile from the old rows.
    async fn keep(&mut self) -> Result<()> {
        if let Some(transaction) = self.open_transaction() {
            transaction.keep_changes().await?;
        }
        if self.has_begun.get() {
            for tag in self.shared.invalidated() {
                // The transaction is committed by now: a client that gets an error would send the request again.
                if let Err(error) = self.shared.invalidate(&tag).await {
                    tracing::error!(
                        target: "skep::cache", tag, %error,
                        "cannot invalidate this tag after the commit: its entries may be stale until they expire"
                    );
                }
            }
        }
        Ok(())
    }
}

/// The `Cache-Control` of what may hold what is one user's.
pub(crate) const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");
