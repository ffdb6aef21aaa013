//! Requests of handlers to other servers, with the cargo feature `fetch`: HTTP/1.1 over pooled connections, to hosts
//! that `fetch.allow` names.
//!
//! Each thread has a pool of its own, for its connections belong to its runtime. Which addresses a host may have,
//! [`Reach`] decides where the connection is made.
//!
//! Start reading at [`Client::fetch`](skep::fetch::Fetcher::fetch).

mod per_host;
mod resolver;

use std::cell::RefCell;
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body::Body as _;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use skep::fetch::{Bounds, FetchError, Fetcher, Fetching};
use skep_units::system_roots;
use tokio::time::timeout;

use crate::outgoing::{NOT_ADMITTED, Reach, Settings};
use per_host::PerHost;
use resolver::{Connector, NotAdmitted};

/// Sends requests to other servers.
pub(crate) struct Client {
    number: usize,
    allow: Arc<Reach>,
    per_host: PerHost,
    tls: Arc<ClientConfig>,
}

/// An idle connection is closed after this time; most servers close theirs after a minute or more.
const IDLE: Duration = Duration::from_secs(30);

/// The most bytes of the header section of a response.
const HEAD: usize = 64 << 10;

type Pool = legacy::Client<HttpsConnector<Connector>, Full<Bytes>>;

thread_local! {
    /// The pool of this thread, and the client that it belongs to: tests have several in one process.
    static POOL: RefCell<Option<(usize, Pool)>> = const { RefCell::new(None) };
}

impl Client {
    /// As the settings say. No connection is opened.
    pub(crate) fn new(settings: &Settings) -> Self {
        // Certificates of no use are read by nobody.
        let allow = settings.allow.clone();
        let mut roots = RootCertStore::empty();
        if !allow.is_empty() {
            roots.add_parsable_certificates(system_roots("cx.fetch"));
        }
        Self::with_roots(allow, settings.per_host, roots)
    }

    fn with_roots(allow: Reach, per_host: usize, roots: RootCertStore) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let tls = tls.expect("ring has what these versions need").with_root_certificates(roots).with_no_client_auth();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, allow: Arc::new(allow), per_host: PerHost::new(per_host), tls: Arc::new(tls) }
    }

    fn pool(&self) -> Pool {
        POOL.with_borrow_mut(|pool| match pool {
            Some((client, pool)) if *client == self.number => pool.clone(),
            _ => pool.insert((self.number, self.make_pool())).1.clone(),
        })
    }

    fn make_pool(&self) -> Pool {
        let https = HttpsConnectorBuilder::new().with_tls_config((*self.tls).clone()).https_or_http().enable_http1();
        legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE)
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(self.per_host.most())
            .http1_max_buf_size(HEAD)
            .build(https.wrap_connector(Connector(Arc::clone(&self.allow))))
    }

    /// Whether a request may go there.
    fn admit(&self, host: &str, port: u16) -> Result<(), FetchError> {
        if !self.allow.names(host, port) {
            return Err(FetchError::not_allowed(format!("fetch.allow does not name {host}:{port}")));
        }
        // An address is not resolved, so it is judged here.
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        if address.is_some_and(|address| !self.allow.admits(SocketAddr::new(address, port))) {
            return Err(not_admitted(host));
        }
        Ok(())
    }

    async fn run(&self, request: Request<Bytes>, place: &str, most: u64) -> Result<Response<Bytes>, FetchError> {
        let _permit = self.per_host.enter(place).await;
        let response = self.pool().request(request.map(Full::new)).await.map_err(|error| failed(place, error))?;
        read(response, place, most).await
    }
}

impl Fetcher for Client {
    fn fetch(&self, request: Request<Bytes>, bounds: Bounds) -> Fetching<'_> {
        Box::pin(async move {
            let (host, port) = (request.uri().host().unwrap_or_default(), port(request.uri()));
            self.admit(host, port)?;
            let place = format!("{host}:{port}");
            let done = timeout(bounds.time, self.run(request, &place, bounds.body)).await;
            done.unwrap_or_else(|_| Err(FetchError::timed_out(format!("a response of {place}"))))
        })
    }
}

fn port(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 })
}

async fn read(response: Response<Incoming>, place: &str, most: u64) -> Result<Response<Bytes>, FetchError> {
    let (parts, body) = response.into_parts();
    // Said before it is sent, so that nothing is read in vain.
    if body.size_hint().lower() > most {
        return Err(FetchError::too_large(most));
    }
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(Response::from_parts(parts, body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(FetchError::too_large(most)),
        Err(error) => Err(FetchError::unreachable(place, error)),
    }
}

fn failed(place: &str, error: legacy::Error) -> FetchError {
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    if causes.any(|cause| cause.is::<NotAdmitted>() || is_inside(cause)) {
        not_admitted(place)
    } else {
        FetchError::unreachable(place, error)
    }
}

/// An I/O error shows what is in it as its text only.
fn is_inside(cause: &(dyn Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.and_then(|inner| inner.downcast_ref::<NotAdmitted>()).is_some()
}

fn not_admitted(host: &str) -> FetchError {
    FetchError::not_allowed(format!("{host}: {NOT_ADMITTED} (fetch.allow)"))
}

#[cfg(test)]
#[path = "../tests/unit/fetch.rs"]
mod tests;
