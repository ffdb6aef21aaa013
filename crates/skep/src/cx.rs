//! What a handler sees of its request, and what it may say beside its answer.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use crate::app::Limits;
use crate::body::{Body, BodyError, BodyFailure, TooLarge};
use crate::cookie::{self, Cookie};
use crate::error::{Error, Result};
use crate::form::{self, FieldInfo, Messages, Receiver, Submission, once};
use crate::html::{Buffer, Render, Text};
use crate::link::{self, Destination};
use crate::origin;
use crate::request::{Peer, header_text};
use crate::secret::Secret;
use crate::service::Route;
use crate::site::{Forms, Local};
#[cfg(not(target_family = "wasm"))]
use crate::sql;

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
    parts: &'r Parts,
    peer: Peer,
    body: Body,
    /// In bytes.
    body_limit: u64,
    local: &'r Local,
    id: RequestId,
    /// What the answer is to carry; most answers carry nothing of this.
    headers: Option<Box<HeaderMap>>,
    /// What only requests with a form have.
    form: OnceCell<Box<FormState>>,
    #[cfg(not(target_family = "wasm"))]
    transaction: Option<Box<sql::Transaction>>,
}

/// The cookie for messages to the next page, and what they are sealed for.
const FLASH: &str = "skep-flash";
/// A page that nobody asks for within this time shows them no more.
const FLASH_LASTS: Duration = Duration::from_mins(10);
/// The most bytes of a cookie that every browser keeps are 4096 (RFC 6265bis, 5.6), its name and attributes included.
const MOST_FLASH: usize = 3900;

/// What a request with a form knows of it.
#[derive(Debug, Default)]
struct FormState {
    submission: RefCell<Option<Rc<Submission>>>,
    /// Only a token can tell where this submission comes from.
    needs_token: Cell<bool>,
    /// The token's cookie, made for a browser that had none.
    cookie: OnceCell<String>,
    /// The page holds a token that goes with the cookie.
    is_bound: Cell<bool>,
    /// What the page before said.
    flashes: OnceCell<Vec<String>>,
    /// What the next page is to say.
    flash: RefCell<Vec<String>>,
}

/// The id of a request, as error pages and log lines show it: 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub(crate) u64);

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Render for RequestId {
    type Content = Text;

    fn render(&self, out: &mut Buffer) {
        format_args!("{self}").render(out);
    }
}

impl<'r> Cx<'r> {
    pub(crate) fn new(parts: &'r Parts, peer: Peer, body: (Body, u64), local: &'r Local, id: RequestId) -> Self {
        let (body, body_limit) = body;
        Self {
            parts,
            peer,
            body,
            body_limit,
            local,
            id,
            headers: None,
            form: OnceCell::new(),
            #[cfg(not(target_family = "wasm"))]
            transaction: None,
        }
    }

    /// The method of the request. A service for GET also sees HEAD here.
    #[must_use]
    pub fn method(&self) -> &'r Method {
        &self.parts.method
    }

    /// The address that was asked for, as it was sent.
    #[must_use]
    pub fn uri(&self) -> &'r Uri {
        &self.parts.uri
    }

    /// The header fields of the request.
    #[must_use]
    pub fn request_headers(&self) -> &'r HeaderMap {
        &self.parts.headers
    }

    /// One header field of the request, if it is there and is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&'r str> {
        header_text(&self.parts.headers, name)
    }

    /// The value of a cookie, as it was sent.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<&'r str> {
        cookie::find(&self.parts.headers, name)
    }

    /// Sends a cookie with the answer.
    ///
    /// ```
    /// use skep::{Cookie, Cx};
    /// fn greet(cx: &mut Cx<'_>) { cx.set_cookie(&Cookie::new("seen", "yes")); }
    /// ```
    pub fn set_cookie(&mut self, cookie: &Cookie) {
        self.headers.get_or_insert_default().append(header::SET_COOKIE, cookie.header_value(self.peer.tls));
    }

    /// Sets a header field of the answer. One that the answer itself sets wins.
    pub fn set_header(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.get_or_insert_default().insert(name, value);
    }

    /// Who sent the request.
    #[must_use]
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// The id of this request: the one that its error page and its log lines show.
    #[must_use]
    pub fn id(&self) -> RequestId {
        self.id
    }

    /// True if the application runs in development: error pages show all, nothing is kept long.
    #[must_use]
    pub fn in_development(&self) -> bool {
        self.local.site().in_development()
    }

    /// The value given to [`App::with`](crate::App::with): as [`Site::get`](crate::Site::get).
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> &'r T {
        self.local.site().get()
    }

    /// The database: its queries wait without keeping other requests waiting.
    ///
    /// # Panics
    /// If the application has none: [`App::database`](crate::App::database).
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn db(&self) -> &'r sql::Local {
        self.local.db()
    }

    /// The transaction of this request, begun by the first call. It is kept if the handler returns `Ok`, and undone if it
    /// returns an error, panics, or its client goes away.
    ///
    /// While it is open, everybody else who writes waits: do nothing slow in between. For one that ends before the handler
    /// does, there is [`sql::Local::transaction`].
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::sql::query;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/move/{amount}")]
    /// struct Move { amount: i64 }
    ///
    /// impl Handle for Move {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let db = cx.transaction().await?;
    ///         db.execute(query("update account set balance = balance - ? where id = 1", self.amount)).await?;
    ///         db.execute(query("update account set balance = balance + ? where id = 2", self.amount)).await?;
    ///         Ok(Response::text("moved")) // both, or neither
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If the application has no database: [`App::database`](crate::App::database).
    #[cfg(not(target_family = "wasm"))]
    pub async fn transaction(&mut self) -> Result<&mut sql::Transaction> {
        if self.transaction.is_none() {
            self.transaction = Some(Box::new(self.db().transaction().await?));
        }
        Ok(self.transaction.as_mut().expect("it was begun above"))
    }

    /// Scheme and host of this site, such as `https://example.org`: the setting `base_url`
    /// ([`App::base_url`](crate::App::base_url)), or else what the client used. Without a `Host`, that of a server on this
    /// machine.
    ///
    /// What a client uses, anybody can write into a request. Set the base URL for what others get to see: mails, and
    /// pages that a cache keeps.
    #[must_use]
    pub fn origin(&self) -> String {
        if let Some(base) = self.local.site().base_url() {
            return base.to_string();
        }
        let scheme = if self.peer.tls { "https" } else { "http" };
        let host = self.parts.uri.authority().map(http::uri::Authority::as_str);
        let host = host.or_else(|| self.header(&header::HOST)).unwrap_or("localhost");
        format!("{scheme}://{host}")
    }

    /// The whole URL, for feeds and mails: a path of this site behind its [`origin`](Self::origin), that of another site
    /// as it is.
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
    /// let app = App::new().serve::<(Article,)>().base_url("https://example.org");
    /// let answer = skep::test::Client::new(app).get("/writings/a-day");
    /// assert_eq!(answer.text(), "https://example.org/writings/a-day#comments");
    /// ```
    #[must_use]
    pub fn absolute(&self, to: impl Destination) -> String {
        link::absolute(&self.origin(), &to)
    }

    /// Takes the body as it comes, without a limit. A service with form fields or JSON has read it already.
    pub fn take_body(&mut self) -> Body {
        std::mem::take(&mut self.body)
    }

    /// Reads the whole body. More bytes than the service (`body = ...`) or the configuration allows are a 413.
    pub async fn read_body(&mut self) -> Result<Bytes> {
        let limit = self.body_limit;
        read_whole(self.take_body(), limit).await
    }

    /// The folder for everything that outlives the process.
    #[must_use]
    pub fn data(&self) -> &'r Path {
        self.local.site().data()
    }

    /// The language of the messages that this user gets: one of [`App::languages`](crate::App::languages).
    #[must_use]
    pub fn language(&self) -> &'static str {
        self.messages().language
    }

    pub(crate) fn messages(&self) -> &'r Messages {
        form::choose_language(&self.local.site().forms.languages, self.header(&header::ACCEPT_LANGUAGE))
    }

    /// The submission that this request brought.
    pub(crate) fn submission(&self) -> Option<Rc<Submission>> {
        self.form.get()?.submission.borrow().clone()
    }

    pub(crate) fn set_submission(&self, submission: Rc<Submission>) {
        self.form_state().submission.replace(Some(submission));
    }

    /// What every form to this service carries unseen.
    pub(crate) fn hidden_fields(&self, route: &Route) -> Vec<(&'static str, String)> {
        let mut fields = Vec::new();
        let mut push = |name, token: Result<String>| match token {
            Ok(token) => fields.push((name, token)),
            // The page can be read all the same; what is sent from it is refused.
            Err(error) => {
                tracing::error!(target: "skep::request", id = %self.id, "a form without its token: {error}");
            }
        };
        if route.cross_origin.is_none() && origin::tells_nothing(&self.parts.headers) {
            push(origin::TOKEN, self.bound_cookie().and_then(|cookie| origin::token(self.secret(), cookie)));
        }
        if route.once.is_some() {
            let token = |cookie: &str| once::token(self.secret(), &self.forms().once, route, cookie);
            push(once::FIELD, self.bound_cookie().and_then(token));
        }
        fields
    }

    fn form_state(&self) -> &FormState {
        self.form.get_or_init(Box::default)
    }

    /// The cookie that tokens are bound to, made if there is none. A page with a token in it is for this browser only.
    fn bound_cookie(&self) -> Result<&str> {
        let form = self.form_state();
        form.is_bound.set(true);
        if let Some(cookie) = self.form_cookie() {
            return Ok(cookie);
        }
        if form.cookie.get().is_none() {
            let id = u128::from_ne_bytes(crate::secret::random()?);
            let _ = form.cookie.set(format!("{id:032x}"));
        }
        Ok(form.cookie.get().map_or("", String::as_str))
    }

    /// The cookie that tokens are bound to, if the browser sent it.
    pub(crate) fn form_cookie(&self) -> Option<&'r str> {
        self.cookie(origin::cookie_name(self.peer.tls))
    }

    pub(crate) fn secret(&self) -> &'r Secret {
        &self.forms().secret
    }

    pub(crate) fn forms(&self) -> &'r Forms {
        &self.local.site().forms
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn has_database(&self) -> bool {
        false
    }

    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn has_database(&self) -> bool {
        self.local.has_database()
    }

    /// The transaction of the request, for who ends it.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn take_transaction(&mut self) -> Option<Box<sql::Transaction>> {
        self.transaction.take()
    }

    /// The whole body, which stays where it is.
    pub(crate) async fn look_into_body(&mut self) -> Result<Bytes> {
        let bytes = self.read_body().await?;
        self.body = bytes.clone().into();
        Ok(bytes)
    }

    pub(crate) fn need_token(&self) {
        self.form_state().needs_token.set(true);
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.form.get().is_some_and(|form| form.needs_token.get())
    }

    pub(crate) fn check_token(&self, token: Option<&str>) -> Result<()> {
        origin::check_token(self.secret(), self.form_cookie(), token)
    }

    /// Says this on the next page that the user sees and that asks for it ([`flashes`](Self::flashes)), once: usually behind a redirect.
    /// Until then it is kept in the browser, in a cookie that only this application can read.
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
    ///         Ok(Response::html(html! { @for text in cx.flashes() { p role="status" { (text) } } }))
    ///     }
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(POST "/save")]
    /// struct Save;
    ///
    /// impl Handle for Save {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.flash("Saved.");
    ///         Ok(Response::see_other(&Index))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve::<(Index, Save)>());
    /// assert_eq!(client.post("/save", &[]).text(), r#"<p role="status">Saved.</p>"#);
    /// assert_eq!(client.get("/").text(), "");
    /// ```
    pub fn flash(&mut self, text: impl Into<String>) {
        self.form_state().flash.borrow_mut().push(text.into());
    }

    /// What the page before said with [`flash`](Self::flash). The answer to this request makes the browser forget it.
    ///
    /// It is this user's, and borrows from the request: it cannot be kept for another.
    #[must_use]
    pub fn flashes(&self) -> &[String] {
        let Some(sealed) = self.cookie(FLASH) else { return &[] };
        self.form_state().flashes.get_or_init(|| {
            let opened = self.secret().open(FLASH, sealed).unwrap_or_else(|error| {
                tracing::error!(target: "skep::request", id = %self.id, "a flash message cannot be read: {error}");
                None
            });
            opened.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
        })
    }

    /// The cookies that a request with a form leaves behind.
    fn form_cookies(&mut self) -> Result<()> {
        let Some(form) = self.form.take() else { return Ok(()) };
        let headers = self.headers.get_or_insert_default();
        if form.is_bound.get() && !headers.contains_key(header::CACHE_CONTROL) {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
        }
        if let Some(cookie) = form.cookie.get() {
            self.set_cookie(&Cookie::new(origin::cookie_name(self.peer.tls), cookie.as_str()));
        }
        let flash = form.flash.take();
        if !flash.is_empty() {
            let sealed = self.secret().seal(FLASH, &serde_json::to_vec(&flash)?)?;
            if sealed.len() > MOST_FLASH {
                return Err(Error::internal(format!(
                    "flash messages of {} bytes do not fit in a cookie",
                    sealed.len()
                )));
            }
            self.set_cookie(&Cookie::new(FLASH, sealed).lasting(FLASH_LASTS));
        } else if form.flashes.get().is_some() {
            self.set_cookie(&Cookie::removal(FLASH));
        }
        Ok(())
    }

    /// Reads a form that may hold files.
    pub(crate) async fn receive(&mut self, route: &'static Route, fields: &'static [FieldInfo]) -> Result<form::Parts> {
        let site = self.local.site();
        let receiver = Receiver {
            fields,
            limits: self.limits(),
            total: route.body_limit.unwrap_or(self.limits().upload_total),
            data: &site.setup.data,
            quota: &site.forms.quota,
            offload: &site.setup.offload,
        };
        let kind = self.header(&header::CONTENT_TYPE).unwrap_or_default();
        receiver.receive(kind, self.take_body()).await
    }

    /// Undoes what a handler wrote that refuses its form.
    pub(crate) fn undo(&mut self) {
        #[cfg(not(target_family = "wasm"))]
        drop(self.transaction.take());
    }

    pub(crate) fn limits(&self) -> Limits {
        self.local.site().setup.limits
    }

    /// The handler has returned `Ok`: keeps what it wrote, and gives what it said beside its answer.
    pub(crate) async fn complete(mut self) -> Result<Option<Box<HeaderMap>>> {
        self.form_cookies()?;
        #[cfg(not(target_family = "wasm"))]
        if let Some(transaction) = self.transaction {
            transaction.commit().await?;
        }
        Ok(self.headers)
    }
}

/// Reads a body up to a limit.
pub(crate) async fn read_whole(body: Body, limit: u64) -> Result<Bytes> {
    // What is announced too long is refused before a byte of it is read.
    if http_body::Body::size_hint(&body).lower() > limit {
        return Err(Error::too_large(limit));
    }
    body.collect(limit).await.map_err(|cause| body_error(cause, limit))
}

/// What a body that broke off is answered with.
pub(crate) fn body_error(cause: BodyError, limit: u64) -> Error {
    match cause.downcast::<BodyFailure>() {
        Ok(failure) => failure.into_error(),
        Err(cause) if cause.is::<TooLarge>() => Error::too_large(limit),
        Err(cause) => Error::bad_request("the body ended before it was complete").with_cause(cause),
    }
}
