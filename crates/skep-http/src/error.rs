//! Errors of requests.
//!
//! An [`Error`] has a status, a message for the client, and a cause for the log. [`error_page`](crate::error_page)
//! renders it.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, StatusCode};
use skep_units::chain;
use skep_units::panic::{self, Panicked};

use crate::body::Body;
use crate::fetch::FetchError;
use crate::validation::{ErrorDetail, InputError, Messages, Named, joined};
use skep_sql::offload::Lost;

/// [`crate::Result`] without its default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request failed.
///
/// Any [`std::error::Error`] turns into one with `?`: status 500, and its text goes to the log only. If the error, or
/// one of its sources, is a locked, full or read-only database, or a full queue for blocking work, the status is 503;
/// 400 if it is a value that the database refuses
/// ([`sql::Error::is_invalid_value`](skep_sql::Error::is_invalid_value)); and 502 or 504 if it is a [`FetchError`].
///
/// ```
/// use skep::{Error, StatusCode};
///
/// let error = Error::bad_request("page: \"x\" is not a number");
/// assert_eq!(error.status(), StatusCode::BAD_REQUEST);
/// ```
///
/// Where a standard error is wanted, such as in a stream or a `main` that returns one, `?` and `into` make a box of it:
///
/// ```
/// fn read() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     skep::sse::Event::json(&7)?;
///     Err(skep::Error::internal(skep::Error::bad_request("no number")))?
/// }
///
/// let error = read().unwrap_err();
/// assert_eq!(error.to_string(), "500 Internal Server Error");
/// assert_eq!(error.source().unwrap().to_string(), "400 Bad Request: no number");
/// ```
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Default)]
struct Inner {
    status: StatusCode,
    message: Option<Cow<'static, str>>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    headers: HeaderMap,
    /// What is wrong with the fields of a form; its page is shown again.
    faults: Vec<Named>,
    /// What is wrong, one by one, for clients that read JSON.
    details: Vec<ErrorDetail>,
    /// What is wrong with parameters or body, if the message says that.
    input: Option<InputError>,
    /// What is sent in place of an error page. A body is not `Sync`, and an error is.
    response: Option<Mutex<http::Response<Body>>>,
    /// Where it was made.
    place: Option<&'static Location<'static>>,
    /// In development, of a 5xx.
    backtrace: Option<Box<str>>,
    /// In development: the keys of the session, if its handler has read it.
    session: Option<Vec<String>>,
}

impl Error {
    /// An error with this status and nothing else to say.
    #[must_use]
    #[track_caller]
    pub fn new(status: StatusCode) -> Self {
        let backtrace = if status.is_server_error() { panic::backtrace() } else { None };
        Self { inner: Box::new(Inner { status, place: Some(Location::caller()), backtrace, ..Inner::default() }) }
    }

    /// 404.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND)
    }

    /// 413: the body is larger than `limit` bytes.
    #[must_use]
    pub fn too_large(limit: u64) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE)
            .with_message(format!("the body is larger than the {limit} bytes allowed here"))
    }

    /// 500; `cause` goes to the log only.
    #[must_use]
    #[track_caller]
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR).with_cause(cause)
    }

    /// 422: a value in a JSON body cannot be accepted. `pointer` is its JSON Pointer (RFC 6901), such as
    /// `/author/name`; the empty text is the body as a whole. For rules that need the database; what a type can know,
    /// its `Deserialize` says.
    ///
    /// ```
    /// use skep::Error;
    ///
    /// let error = Error::unprocessable("/title", "this title is taken").with_field_error("/tags/0", "there is no such tag");
    /// assert_eq!(error.status(), 422);
    /// assert_eq!(error.message(), Some("/title: this title is taken; /tags/0: there is no such tag"));
    /// ```
    #[must_use]
    pub fn unprocessable(pointer: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY).with_field_error(pointer, message)
    }

    /// One more value that is [`unprocessable`](Self::unprocessable).
    #[must_use]
    pub fn with_field_error(
        mut self,
        pointer: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let (pointer, message) = (pointer.into(), message.into());
        self.inner.input = None;
        let text = if pointer.is_empty() { message.to_string() } else { format!("{pointer}: {message}") };
        self.inner.message = Some(match self.inner.message.take() {
            Some(before) => format!("{before}; {text}").into(),
            None => text.into(),
        });
        self.inner.details.push(ErrorDetail::Value(pointer, message));
        self
    }

    /// The message for the client. The default describes the status.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        (self.inner.message, self.inner.input) = (Some(message.into()), None);
        self
    }

    /// The cause, for the log; error pages show it only in development.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.inner.cause = Some(cause.into());
        self
    }

    /// Adds a header field to the response, such as `Allow` with 405 or `Retry-After` with 503.
    #[must_use]
    pub fn with_header(mut self, name: http::HeaderName, value: http::HeaderValue) -> Self {
        self.inner.headers.insert(name, value);
        self
    }

    /// Changes the status.
    ///
    /// ```
    /// use skep::{Error, StatusCode};
    /// assert_eq!(Error::not_found().with_status(StatusCode::GONE).status(), 410);
    /// ```
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.inner.status = status;
        self
    }

    /// A response that ends the handler early.
    pub(crate) fn of_response(response: http::Response<Body>) -> Self {
        let status = response.status();
        Self { inner: Box::new(Inner { status, response: Some(Mutex::new(response)), ..Inner::default() }) }
    }

    /// What is wrong, one by one.
    pub(crate) fn details(&self) -> &[ErrorDetail] {
        &self.inner.details
    }

    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.inner.status
    }

    /// The message for the client.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.inner.message.as_deref()
    }

    /// The cause, for the log.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.inner.cause.as_deref()
    }

    /// True if the fault is the server's (5xx), not the client's.
    ///
    /// 501 and 505 answer requests that ask for what HTTP/1.1 does not have: they do not fill the log of errors.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        let asked_too_much = [StatusCode::NOT_IMPLEMENTED, StatusCode::HTTP_VERSION_NOT_SUPPORTED];
        self.inner.status.is_server_error() && !asked_too_much.contains(&self.inner.status)
    }

    fn fmt_without_cause(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inner.status)?;
        self.message().map_or(Ok(()), |message| write!(f, ": {message}"))
    }
}

extension! {
    /// What a framework does with an error.
    pub trait ErrorExt for Error {
        /// 422 with faults of a form: its page is shown again.
        fn refused(faults: Vec<Named>, messages: &Messages) -> Self {
            let (text, wrong) = joined(&faults, messages);
            let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY).with_message(text);
            (error.inner.faults, error.inner.details) = (faults, wrong);
            error
        }

        /// What is wrong with a parameter: the message is in the reader's language.
        fn of_input(status: StatusCode, input: InputError) -> Self {
            let mut error = Self::new(status).with_message(input.text(&Messages::ENGLISH));
            error.inner.input = Some(input);
            error
        }

        /// The same of a value in a JSON body.
        fn of_value(pointer: String, input: InputError) -> Self {
            let mut error = Self::unprocessable(pointer, input.text(&Messages::ENGLISH));
            error.inner.input = Some(input);
            error
        }

        /// The message for a reader of this language, and what is wrong one by one.
        fn told(&self, messages: &Messages) -> (Option<String>, Vec<ErrorDetail>) {
            let own = || (self.message().map(str::to_owned), self.inner.details.clone());
            let Some(input) = &self.inner.input else {
                let (english, told) = (joined(&self.inner.faults, &Messages::ENGLISH), &self.inner.faults);
                let is_of_form = !told.is_empty() && self.message() == Some(english.0.as_str());
                let told = || joined(told, messages);
                return if is_of_form { (Some(told().0), told().1) } else { own() };
            };
            let text = input.text(messages);
            match self.inner.details.as_slice() {
                [ErrorDetail::Value(pointer, _)] => {
                    let message = if pointer.is_empty() { text.clone() } else { format!("{pointer}: {text}") };
                    (Some(message), vec![ErrorDetail::Value(pointer.clone(), text.into())])
                }
                _ => (Some(text), self.inner.details.clone()),
            }
        }

        /// 503: a limit is used up; the same request may succeed later. `cause` names the limit.
        fn used_up(message: &'static str, cause: &'static str) -> Self {
            let later = http::HeaderValue::from_static("5");
            Self::new(StatusCode::SERVICE_UNAVAILABLE)
                .with_message(message)
                .with_header(http::header::RETRY_AFTER, later)
                .with_cause(cause)
        }

        /// 429: this client does it too often. `limit` is the setting.
        fn too_often(limit: &'static str) -> Self {
            Self::new(StatusCode::TOO_MANY_REQUESTS)
                .with_message("too much of this comes from your network: please try again in a minute")
                .with_header(http::header::RETRY_AFTER, http::HeaderValue::from_static("60"))
                .with_cause(limit)
        }

        /// The same in the words of another.
        #[must_use]
        fn in_words_of(self, other: Self) -> Self {
            let mut this = self;
            this.inner.message = other.inner.message;
            this.inner.details = other.inner.details;
            this.inner.input = other.inner.input;
            this
        }

        /// The cause of a 500 that says nothing to the client.
        fn unexplained(&self) -> Option<&(dyn StdError + 'static)> {
            let says_nothing = self.inner.status == StatusCode::INTERNAL_SERVER_ERROR && self.inner.message.is_none();
            self.inner.cause.as_deref().filter(|_| says_nothing).map(|cause| cause as &dyn StdError)
        }

        /// The same with the cause and the header fields of another, unless it has its own, and with what development
        /// shows of where that one was made.
        #[must_use]
        fn caused_by(self, other: Self) -> Self {
            let mut this = self;
            this.inner.cause = this.inner.cause.or(other.inner.cause);
            this.inner.place = other.inner.place.or(this.inner.place);
            this.inner.backtrace = other.inner.backtrace.or(this.inner.backtrace);
            this.inner.session = other.inner.session.or(this.inner.session);
            for (name, value) in &other.inner.headers {
                this.inner.headers.entry(name).or_insert_with(|| value.clone());
            }
            this
        }

        /// The response, if it is no error after all, with the header fields that were added to it.
        fn take_response(&mut self) -> Option<http::Response<Body>> {
            let response = self.inner.response.take()?;
            let mut response = response.into_inner().unwrap_or_else(PoisonError::into_inner);
            *response.status_mut() = self.inner.status;
            response.headers_mut().extend(std::mem::take(&mut self.inner.headers));
            Some(response)
        }

        /// True if a form is to be shown again.
        fn is_refusal(&self) -> bool {
            !self.inner.faults.is_empty()
        }

        /// What is wrong with the fields of a form.
        fn take_field_errors(&mut self) -> Vec<Named> {
            std::mem::take(&mut self.inner.faults)
        }

        /// For start-up errors: there is no request, so the status is omitted.
        fn at_start(&self) -> String {
            match self.inner.cause.as_deref() {
                Some(cause) if self.inner.message.is_none() => chain(cause),
                _ => self.to_string(),
            }
        }

        /// The header fields of the response.
        fn headers(&self) -> &HeaderMap {
            &self.inner.headers
        }

        /// Where it was made.
        fn place(&self) -> Option<&'static Location<'static>> {
            self.inner.place
        }

        /// In development: the backtrace of a 5xx, or of the panic that it is.
        fn backtrace(&self) -> Option<&str> {
            let panicked = self.cause().and_then(|cause| cause.downcast_ref::<Panicked>());
            panicked.map_or(self.inner.backtrace.as_deref(), |panicked| panicked.backtrace.as_deref())
        }

        /// In development: the keys of the session.
        fn session(&self) -> Option<&[String]> {
            self.inner.session.as_deref()
        }

        /// Notes them.
        #[must_use]
        fn with_session(self, keys: Vec<String>) -> Self {
            let mut this = self;
            this.inner.session = Some(keys);
            this
        }
    }
}

macro_rules! refusals {
    ($($(#[$about:meta])* $name:ident: $status:ident;)*) => {
        impl Error {$(
            $(#[$about])*
            #[must_use]
            pub fn $name(message: impl Into<Cow<'static, str>>) -> Self {
                Self::new(StatusCode::$status).with_message(message)
            }
        )*}
    };
}

refusals! {
    /// 400: the request is malformed; `message` tells the client why.
    bad_request: BAD_REQUEST;
    /// 401: sign in first; `message` tells the client why.
    unauthorized: UNAUTHORIZED;
    /// 403: the client may not do this; `message` tells it why.
    forbidden: FORBIDDEN;
    /// 409: the request conflicts with the current state; `message` tells the client why.
    conflict: CONFLICT;
    /// 429: too many requests; `message` tells the client why.
    too_many_requests: TOO_MANY_REQUESTS;
}

// Like anyhow's: `Error` itself is no `std::error::Error`, which is what lets `?` take all others.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    #[track_caller]
    fn from(cause: E) -> Self {
        match not_ours(&cause) {
            Some((status, message)) => {
                let error = Self::new(status).with_message(message).with_cause(cause);
                match status {
                    StatusCode::SERVICE_UNAVAILABLE => {
                        error.with_header(http::header::RETRY_AFTER, http::HeaderValue::from_static("5"))
                    }
                    _ => error,
                }
            }
            None => Self::internal(cause),
        }
    }
}

/// An [`Error`] as a standard one.
#[derive(Debug)]
struct Boxed(Error);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_without_cause(f)
    }
}

impl StdError for Boxed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause().map(|cause| cause as _)
    }
}

impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        Box::new(Boxed(error))
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::new(Boxed(error))
    }
}

/// Status and message for the client if the same request may succeed later, or another server or the client is at
/// fault.
fn not_ours(cause: &(dyn StdError + 'static)) -> Option<(StatusCode, &'static str)> {
    let mut causes = std::iter::successors(Some(cause), |cause| (**cause).source());
    causes.find_map(|cause| {
        let of_database = cause.downcast_ref::<skep_sql::Error>();
        if let Some(message) = of_database.and_then(skep_sql::Error::of_request) {
            return Some((StatusCode::BAD_REQUEST, message));
        }
        let of_database = of_database.and_then(skep_sql::Error::public_message);
        let may_pass = of_database.or_else(|| cause.downcast_ref::<Lost>()?.public_message());
        let may_pass = may_pass.or_else(|| cause.downcast_ref().and_then(of_full_disk));
        let may_pass = may_pass.map(|message| (StatusCode::SERVICE_UNAVAILABLE, message));
        may_pass.or_else(|| cause.downcast_ref::<FetchError>()?.public())
    })
}

/// What the client may be told if a file could not be written, as of the database.
fn of_full_disk(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some(skep_sql::NO_ROOM),
        io::ErrorKind::ReadOnlyFilesystem => Some(skep_sql::READ_ONLY),
        _ => None,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_without_cause(f)?;
        match self.cause() {
            Some(cause) => write!(f, ": {}", chain(cause)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Turns `None` into a 404.
pub trait Or404<T> {
    /// The value, or [`Error::not_found`].
    ///
    /// ```
    /// use skep::Or404;
    /// assert!(Some(1).or_404().is_ok());
    /// assert_eq!(None::<u8>.or_404().unwrap_err().status(), 404);
    /// ```
    fn or_404(self) -> Result<T>;
}

impl<T> Or404<T> for Option<T> {
    fn or_404(self) -> Result<T> {
        self.ok_or_else(Error::not_found)
    }
}
