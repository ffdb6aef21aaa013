//! HTTP of a guest: which header fields pass, and where its own requests may go.

use std::future::Future;
use std::sync::{Arc, LazyLock};

use http::uri::Scheme;
use http::{HeaderName, Request};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks,
};

use super::grants::{Frozen, Grants};
use super::outgoing::{self, Sent};

/// The hooks of one instance.
pub(super) struct Hooks {
    grants: Arc<Grants>,
    frozen: Option<Arc<Frozen>>,
}

/// Pieces of a response that wait to be sent. A guest that writes faster than its client reads waits when they are
/// full.
const PIECES: usize = 16;

/// Bytes of one piece.
const PIECE: usize = 64 << 10;

static FORBIDDEN: LazyLock<ForbiddenHeaderFilter> =
    LazyLock::new(|| Arc::new(|name: &HeaderName| DEFAULT_FORBIDDEN_HEADERS.contains(name)));

impl Hooks {
    pub(super) fn new(grants: &Arc<Grants>) -> Self {
        Self { grants: Arc::clone(grants), frozen: None }
    }

    pub(super) fn grants(&self) -> &Arc<Grants> {
        &self.grants
    }

    pub(super) fn freeze(&mut self, frozen: &Arc<Frozen>) {
        self.frozen = Some(Arc::clone(frozen));
    }

    /// Host and port of a request that may leave. Without user information: what is compared must be what is connected
    /// to.
    fn destination(&self, uri: &http::Uri) -> Option<(String, u16)> {
        if let Some(frozen) = &self.frozen {
            frozen.note(Frozen::NETWORK);
            return None;
        }
        let usual = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
        let (host, port) = (uri.host()?, uri.port_u16().unwrap_or(usual));
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        (!has_user && self.grants.allow_out.names(host, port)).then(|| (host.to_owned(), port))
    }
}

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        DEFAULT_FORBIDDEN_HEADERS.contains(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::clone(&FORBIDDEN)
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _done: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let grants = Arc::clone(&self.grants);
        let Some((host, port)) = self.destination(request.uri()) else {
            let (app, host) = (&grants.name, request.uri().authority().map_or("?", |host| host.as_str()));
            tracing::warn!(target: "skep::isolate", app, host, "refused a request to another server: --allow-out would allow it");
            return Box::new(std::future::ready(Err(Error::HttpRequestDenied)));
        };
        Box::new(async move {
            let sent = outgoing::send(&grants.allow_out, (&host, port), request, options.unwrap_or_default()).await;
            if let Err(Error::DestinationIpProhibited) = sent {
                let app = &grants.name;
                tracing::warn!(target: "skep::isolate", app, host, "refused a request to another server: its address is of no public network; --allow-out private would allow it");
            }
            sent
        })
    }

    fn p2_outgoing_body_buffer_chunks(&mut self) -> usize {
        PIECES
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }
}
