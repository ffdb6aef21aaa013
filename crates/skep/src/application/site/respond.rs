//! The way of a request: what it results in, and what every response has.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::time::Instant;

use http::header::ORIGIN;
use http::{HeaderValue, Method};
use skep_units::panic::CatchPanic;

use super::failures::About;
use super::headers::keep_private;
use super::parts::{check_path, without_path};
use super::{LocalSite, mounts, observed};
use crate::application::mount::MountPoint;
use crate::context::resources::ThreadResources;
use crate::contract::cors;
use skep_html::nonce;
use skep_http::account::{self, Account};
#[cfg(feature = "compression")]
use skep_http::compression::{self, Situation};
use skep_http::error::Error;
#[cfg(target_family = "wasm")]
use skep_http::ext::ResponseExt as _;
use skep_http::ext::{AccountExt as _, ErrorExt as _, RequestExt as _};
use skep_http::log::{self, Trace};
use skep_http::request::{Parts, Peer, Received, Request, RequestId};
use skep_http::response::{Response, Result};

/// A request that is being handled: what is known before its handler runs, and needed after it. A mount may take its
/// parts.
pub(super) struct Exchange<'s> {
    pub(super) id: RequestId,
    pub(super) peer: Peer,
    mount: Option<(u16, &'s MountPoint)>,
    cors: Option<&'s cors::Rules>,
    origin: Option<HeaderValue>,
    /// Access rules say something of its path.
    is_restricted: bool,
    pub(super) resources: ThreadResources,
    /// Whether the clients of the route read JSON: the page of a failure depends on it.
    pub(super) speaks_json: Cell<bool>,
    /// In development only.
    begun: Option<Instant>,
}

/// What each step of making the response finds on its thread.
struct Scopes {
    nonce: nonce::Scope,
    account: account::Scope,
}

impl<'s> Exchange<'s> {
    fn begin(local: &'s LocalSite, request: &Received, id: RequestId) -> (Self, Scopes) {
        let (site, parts) = (local.site(), &request.parts);
        let begun = site.in_development().then(Instant::now);
        let is_measured = request.is_accounted || begun.is_some();
        let is_traced = parts.extensions.get::<Trace>().is_some_and(Trace::is_sampled);
        let cors = site.cors.find(parts.uri.path());
        let account = is_measured.then(|| Box::new(Account::new(id.into()).traced(is_traced)));
        let scopes = Scopes { nonce: nonce::Scope::default(), account: account::Scope(account) };
        let exchange = Self {
            id,
            peer: request.peer,
            mount: mounts::find(site, parts),
            cors,
            origin: cors.and_then(|_| parts.headers.get(ORIGIN).map(HeaderValue::from)),
            is_restricted: site.access.has_any(parts.uri.path()),
            resources: local.inner.thread.for_request(),
            speaks_json: Cell::new(false),
            begun,
        };
        (exchange, scopes)
    }
}

impl LocalSite {
    /// Handles a request, without its log: what it results in, of which [`finish`](Self::finish) makes the response.
    pub(super) async fn respond(&self, request: &mut Request, id: RequestId) -> Response {
        let (exchange, mut scopes) = Exchange::begin(self, request.received(), id);
        let Received { parts, body, .. } = request.received_mut();
        let result = if let Some(answer) = self.answer_before_routing(parts, &exchange) {
            Ok(answer)
        } else if let Some((number, mount)) = exchange.mount {
            scopes.account.enter(|| account::set_service(number));
            log::set_service(number);
            // Boxed: it is no request to a service, whose future has no room for it.
            let asked = (mem::take(body), exchange.peer, exchange.id);
            Box::pin(self.answer_from_mount(mount, parts, asked, &exchange.resources)).await
        } else {
            let mut work = CatchPanic(pin!(self.dispatch(parts, mem::take(body), &exchange)));
            let Scopes { nonce, account } = &mut scopes;
            poll_fn(|task| account.enter(|| nonce.enter(|| Pin::new(&mut work).poll(task)))).await
        };
        let result = result.unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        self.finish(parts, &exchange, &mut scopes, result)
    }

    /// What is no request to a service or a mount.
    fn answer_before_routing(&self, parts: &Parts, exchange: &Exchange<'_>) -> Option<Result> {
        if let Err(error) = check_path(parts) {
            return Some(Err(error));
        }
        let preflight = || {
            let cors = exchange.cors.filter(|_| cors::is_preflight(parts))?;
            self.preflight(cors, parts, exchange.mount.is_some()).map(Ok)
        };
        without_path(parts).or_else(preflight)
    }

    /// Makes the response: the page of a failure, and then, in this order, what every response has.
    fn finish(&self, parts: &Parts, exchange: &Exchange<'_>, scopes: &mut Scopes, result: Result) -> Response {
        let Exchange { mount, resources, .. } = exchange;
        let (id, peer, Scopes { nonce, account }) = (exchange.id, exchange.peer, scopes);
        // What is mounted says itself what its pages may do.
        let is_own = mount.is_none() || result.is_err();
        let mut response = result.unwrap_or_else(|mut error| match error.take_response() {
            Some(response) => response.into(),
            None => {
                let about = About::of_request(parts, exchange.speaks_json.get(), resources);
                nonce.enter(|| self.fail(&error, id, &about.with_account(peer, account.0.as_deref())))
            }
        });
        keep_private(&mut response, resources.take_cookies(peer), exchange.is_restricted);
        #[cfg(feature = "compression")]
        {
            let situation = Situation { is_private: resources.is_private(), is_foreign: mount.is_some() };
            compression::apply(&mut response, parts, situation, &self.site().setup().compression);
        }
        #[cfg(target_family = "wasm")]
        response.note_hint(resources.is_private());
        // What is mounted may have settled it: without a body, no length was known.
        let settle = if mount.is_some() { Response::settle_again } else { Response::settle };
        settle(&mut response, parts.method == Method::HEAD);
        if is_own {
            self.site().resources.add_security_headers(&mut response, nonce, peer);
        }
        if let Some(cors) = exchange.cors {
            cors.add_to(response.headers_mut(), exchange.origin.as_ref());
        }
        if let Some(account) = account.0.take() {
            observed::note(&mut response, account, exchange.begun);
        }
        response
    }
}
