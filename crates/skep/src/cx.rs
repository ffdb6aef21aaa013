//! What a handler sees of its request, and what it may say beside its answer.

mod forms;

use std::cell::{Cell, OnceCell};
use std::ops::Deref;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};

use crate::app::Limits;
use crate::body::{Body, BodyError, BodyFailure, TooLarge};
use crate::cookie::{self, Cookie};
use crate::error::{Error, Result};
use crate::html::{Buffer, Render, Text};
use crate::public::Public;
use crate::request::{Peer, header_text};
use crate::session::{self, Session};
use crate::site::Local;
use crate::sql;

use self::forms::FormState;

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
    public: Public<'r>,
    peer: Peer,
    body: Body,
    /// In bytes.
    body_limit: u64,
    id: RequestId,
    /// The answer may hold what is this user's.
    is_private: Cell<bool>,
    /// What the answer is to carry; most answers carry nothing of this.
    headers: Option<Box<HeaderMap>>,
    /// What only requests with a form have.
    form: OnceCell<Box<FormState>>,
    /// What only requests with a session have.
    session: OnceCell<Box<session::State>>,
    transaction: Option<Box<sql::Transaction>>,
    /// There was one, which perhaps has ended.
    has_begun: bool,
}

/// The id of a request, as error pages and log lines show it: 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub(crate) u64);

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<RequestId> for u64 {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

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

/// All that is the same for everybody.
impl<'r> Deref for Cx<'r> {
    type Target = Public<'r>;

    fn deref(&self) -> &Public<'r> {
        &self.public
    }
}

impl<'r> Cx<'r> {
    pub(crate) fn new(parts: &'r Parts, peer: Peer, body: (Body, u64), local: &'r Local, id: RequestId) -> Self {
        let (body, body_limit) = body;
        Self {
            public: Public::new(parts, peer.tls, local),
            peer,
            body,
            body_limit,
            id,
            is_private: Cell::new(false),
            headers: None,
            form: OnceCell::new(),
            session: OnceCell::new(),
            transaction: None,
            has_begun: false,
        }
    }

    /// The method of the request. A service for GET also sees HEAD here.
    #[must_use]
    pub fn method(&self) -> &'r Method {
        &self.public.parts().method
    }

    /// The address that was asked for, as it was sent.
    #[must_use]
    pub fn uri(&self) -> &'r Uri {
        &self.public.parts().uri
    }

    /// The header fields of the request.
    #[must_use]
    pub fn request_headers(&self) -> &'r HeaderMap {
        &self.public.parts().headers
    }

    /// One header field of the request, if it is there and is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&'r str> {
        header_text(&self.public.parts().headers, name)
    }

    /// The value of a cookie, as it was sent.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<&'r str> {
        self.is_private.set(true);
        cookie::find(&self.public.parts().headers, name)
    }

    /// Sends a cookie with the answer.
    ///
    /// ```
    /// use skep::{Cookie, Cx};
    /// fn greet(cx: &mut Cx<'_>) { cx.set_cookie(&Cookie::new("seen", "yes")); }
    /// ```
    pub fn set_cookie(&mut self, cookie: &Cookie) {
        self.is_private.set(true);
        self.headers.get_or_insert_default().append(header::SET_COOKIE, cookie.header_value(self.peer.tls));
    }

    /// What is kept of this user from request to request. An example is at [`Session`].
    ///
    /// Nothing is read before it is asked for, and nothing stored before something is set.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        let cookie = self.cookie(session::cookie_name(self.peer.tls));
        let state = self.session.get_or_init(Box::default);
        Session::new(state, &self.public.local().site().sessions, cookie, self.peer.tls)
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
    pub async fn transaction(&mut self) -> Result<&mut sql::Transaction> {
        if self.transaction.is_none() {
            self.transaction = Some(Box::new(self.db().transaction().await?));
            self.has_begun = true;
        }
        Ok(self.transaction.as_mut().expect("it was begun above"))
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

    /// Undoes what a handler wrote that refuses its form.
    pub(crate) fn undo(&mut self) {
        drop(self.transaction.take());
    }

    pub(crate) fn limits(&self) -> Limits {
        self.public.local().site().setup.limits
    }

    /// The handler has returned an error. What it did to the session is done, and the browser must hear of it: else it would
    /// have no session after one was renewed.
    pub(crate) fn fail(&self, error: Error) -> Error {
        match self.session.get().and_then(|session| session.take_cookie()) {
            Some(cookie) => error
                .with_header(header::SET_COOKIE, cookie.header_value(self.peer.tls))
                .with_header(header::CACHE_CONTROL, PRIVATE),
            None => error,
        }
    }

    fn session_cookie(&mut self) {
        if let Some(cookie) = self.session.get().and_then(|session| session.take_cookie()) {
            self.set_cookie(&cookie);
        }
    }

    /// The handler has returned `Ok`: keeps what it wrote, and gives what it said beside its answer.
    pub(crate) async fn complete(mut self) -> Result<Option<Box<HeaderMap>>> {
        self.form_cookies()?;
        self.session_cookie();
        if self.is_private.get() {
            let headers = self.headers.get_or_insert_default();
            headers.entry(header::CACHE_CONTROL).or_insert(PRIVATE);
        }
        self.keep().await?;
        Ok(self.headers)
    }

    /// Ends the transaction. What was made meanwhile, of what was there before, is void as well.
    async fn keep(&mut self) -> Result<()> {
        if let Some(transaction) = self.transaction.take() {
            transaction.commit().await?;
        }
        if self.has_begun {
            for tag in self.public.voided() {
                // What was written is kept by now: who is told that it failed would do it again.
                if let Err(error) = self.public.invalidate(&tag).await {
                    tracing::error!(
                        target: "skep::cache", tag, %error,
                        "what is kept with this tag may be out of date until its time is over: it could not be voided"
                    );
                }
            }
        }
        Ok(())
    }
}

/// The `Cache-Control` of what may hold what is one user's.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

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
