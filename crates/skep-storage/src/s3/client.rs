//! The HTTP client of S3: connections of each thread, TLS by rustls with the certificates of the system.

use std::cell::RefCell;
use std::error::Error as _;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::StatusCode;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody, HttpService,
};
use rustls::{ClientConfig, RootCertStore};
use skep_units::system_roots;
use tokio::time::timeout;

use super::timed::Timed;

/// Makes the client of a storage.
#[derive(Clone)]
pub(super) struct Connector {
    number: usize,
    time: Duration,
    tls: Arc<ClientConfig>,
}

/// An idle connection is closed after this time; most servers close theirs after a minute or more.
const IDLE: Duration = Duration::from_secs(30);

/// The most time that a connection takes to be made.
const CONNECT: Duration = Duration::from_secs(5);

type Pool = legacy::Client<HttpsConnector<HttpConnector>, HttpRequestBody>;

thread_local! {
    /// The pool of this thread, whose connections belong to its runtime, and the client that it belongs to: tests have
    /// several in one process.
    static POOL: RefCell<Option<(usize, Pool)>> = const { RefCell::new(None) };
}

impl Connector {
    pub(super) fn new(time: Duration) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(system_roots("the S3 storage"));
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let tls = tls.expect("ring has what these versions need").with_root_certificates(roots).with_no_client_auth();
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), time, tls: Arc::new(tls) }
    }

    fn pool(&self) -> Pool {
        POOL.with_borrow_mut(|pool| match pool {
            Some((client, pool)) if *client == self.number => pool.clone(),
            _ => pool.insert((self.number, self.make_pool())).1.clone(),
        })
    }

    fn make_pool(&self) -> Pool {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT));
        let https = HttpsConnectorBuilder::new().with_tls_config((*self.tls).clone()).https_or_http().enable_http1();
        legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .build(https.wrap_connector(tcp))
    }
}

impl object_store::client::HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

impl HttpService for Connector {
    fn call<'s, 'a>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>
    where
        's: 'a,
    {
        Box::pin(async move {
            let response = timeout(self.time, self.pool().request(request)).await;
            let response = response.map_err(|slow| HttpError::new(HttpErrorKind::Timeout, slow))?;
            let response = response.map_err(|error| HttpError::new(kind(&error), error))?;
            let response = response.map(|body| HttpResponseBody::new(Timed::new(body, self.time)));
            if is_final(response.status()) { refused(response).await } else { Ok(response) }
        })
    }
}

/// The server says what no repetition changes: the region is another one, no bucket has such a name.
#[derive(Debug)]
pub(super) struct Refused(String);

skep_units::error_text!(Refused, |refused| refused.0);

impl Refused {
    /// Whether it is the reason of this error: `object_store` shows the status of a response to nobody.
    pub(super) fn is_in(error: &(dyn std::error::Error + 'static)) -> bool {
        error.is::<Self>() || error.source().is_some_and(Self::is_in)
    }
}

fn is_final(status: StatusCode) -> bool {
    // What these mean, `object_store` knows.
    let is_known = matches!(status.as_u16(), 304 | 401 | 403 | 404 | 408 | 409 | 412 | 429);
    (status.is_redirection() || status.is_client_error()) && !is_known
}

async fn refused(response: HttpResponse) -> Result<HttpResponse, HttpError> {
    let (head, body) = response.into_parts();
    let body = body.bytes().await?;
    // The one 400 of S3 that is about time.
    if body.windows(14).any(|code| code == b"RequestTimeout") {
        return Ok(HttpResponse::from_parts(head, body.into()));
    }
    let refused = Refused(format!("{}: {}", head.status, String::from_utf8_lossy(&body)));
    Err(HttpError::new(HttpErrorKind::Unknown, refused))
}

/// Whether it may be tried again.
fn kind(error: &legacy::Error) -> HttpErrorKind {
    let is_closed = |error: &hyper::Error| error.is_closed() || error.is_incomplete_message();
    if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.source().and_then(|cause| cause.downcast_ref()).is_some_and(is_closed) {
        HttpErrorKind::Request
    } else {
        HttpErrorKind::Interrupted
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client of S3")
    }
}
