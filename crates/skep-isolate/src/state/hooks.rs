//! HTTP of a guest: which header fields pass, and where its own requests may go.

use std::future::Future;
use std::sync::{Arc, LazyLock};

use http::uri::Scheme;
use http::{HeaderName, Request, Response};
use http_body_util::BodyExt;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks,
    default_send_request,
};

use super::grants::{Frozen, Grants};

/// The hooks of one instance.
pub(super) struct Hooks {
    grants: Arc<Grants>,
    frozen: Option<Arc<Frozen>>,
}

/// Pieces of a response that wait to be sent. A guest that writes faster than its client reads waits when they are full.
const PIECES: usize = 16;

/// Bytes of one piece.
const PIECE: usize = 64 << 10;

static FORBIDDEN: LazyLock<ForbiddenHeaderFilter> =
    LazyLock::new(|| Arc::new(|name: &HeaderName| DEFAULT_FORBIDDEN_HEADERS.contains(name)));

type Sent = Result<(Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>), Error>;

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

    fn allows(&self, request: &Request<WasiBody>) -> bool {
        if let Some(frozen) = &self.frozen {
            frozen.note(Frozen::NETWORK);
            return false;
        }
        let port = |uri: &http::Uri| {
            let usual = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
            uri.port_u16().unwrap_or(usual)
        };
        let uri = request.uri();
        uri.host().is_some_and(|host| self.grants.allows(host, Some(port(uri))))
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
        if !self.allows(&request) {
            let (app, host) = (&self.grants.name, request.uri().authority().map_or("?", |host| host.as_str()));
            tracing::warn!(target: "skep::isolate", app, host, "refused a request to another server: --allow-out would allow it");
            return Box::new(std::future::ready(Err(Error::HttpRequestDenied)));
        }
        Box::new(async move {
            let (response, io) = default_send_request(request, options).await?;
            let io: Box<dyn Future<Output = Result<(), Error>> + Send> = Box::new(io);
            Ok((response.map(BodyExt::boxed_unsync), io))
        })
    }

    fn p2_outgoing_body_buffer_chunks(&mut self) -> usize {
        PIECES
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }
}
