//! Requests and answers as `wasi:http` 0.2 has them.

use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use skep_cache::driver::block_on;
use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, InputStream, Method as WasiMethod, OutgoingBody, OutgoingResponse,
    OutputStream, ResponseOutparam, Scheme,
};
use wasip2::io::streams::StreamError;

use super::instance::{self, Application, Instance};
use skep_http::body::{Body, BodyError};
use skep_http::request::Request;
use skep_http::response::Response;

/// Answers a request.
pub fn handle<A: Application>(request: IncomingRequest, answer: ResponseOutparam) {
    let response = instance::with::<A, _>(|instance| match instance {
        Ok(instance) => match read(instance, &request) {
            Some(request) => block_on(instance.local.answer(request)),
            None => instance::plain(StatusCode::BAD_REQUEST, "this request was not understood"),
        },
        Err(_) => instance::not_started(),
    });
    drop(request);
    send(response, answer);
}

/// `None` if a part of it is not what HTTP allows, which no host lets through.
fn read(instance: &Instance, incoming: &IncomingRequest) -> Option<Request> {
    let fields = incoming.headers();
    let mut headers = header_map(fields.entries())?;
    drop(fields);
    let tls = matches!(incoming.scheme(), Some(Scheme::Https));
    let (id, peer) = instance.take_sender(&mut headers, tls);
    if !headers.contains_key(HOST)
        && let Some(authority) = incoming.authority()
    {
        headers.insert(HOST, HeaderValue::try_from(authority).ok()?);
    }
    let mut parts = http::Request::new(()).into_parts().0;
    parts.method = method(incoming.method())?;
    parts.uri = Uri::try_from(incoming.path_with_query().as_deref().unwrap_or("/")).ok()?;
    let body = if has_body(&parts.method, &headers) { body(incoming)? } else { Body::empty() };
    parts.headers = headers;
    let request = Request::new(parts, body).with_peer(peer);
    Some(match id {
        Some(id) => request.with_id(id),
        None => request,
    })
}

fn header_map(entries: Vec<(String, Vec<u8>)>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(entries.len() + 1);
    for (name, value) in entries {
        headers.append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    Some(headers)
}

fn method(method: WasiMethod) -> Option<Method> {
    Some(match method {
        WasiMethod::Get => Method::GET,
        WasiMethod::Head => Method::HEAD,
        WasiMethod::Post => Method::POST,
        WasiMethod::Put => Method::PUT,
        WasiMethod::Delete => Method::DELETE,
        WasiMethod::Connect => Method::CONNECT,
        WasiMethod::Options => Method::OPTIONS,
        WasiMethod::Trace => Method::TRACE,
        WasiMethod::Patch => Method::PATCH,
        WasiMethod::Other(name) => Method::from_bytes(name.as_bytes()).ok()?,
    })
}

/// GET and HEAD have none that means something (RFC 9110, 9.3.1), unless they say so. To ask costs four calls of the
/// host.
fn has_body(method: &Method, headers: &HeaderMap) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
        || headers.contains_key(http::header::CONTENT_LENGTH)
        || headers.contains_key(http::header::TRANSFER_ENCODING)
}

fn body(incoming: &IncomingRequest) -> Option<Body> {
    let body = incoming.consume().ok()?;
    let stream = body.stream().ok()?;
    Some(Body::stream(Incoming { stream: Some(stream), _body: body }))
}

/// The body of a request, read as it is asked for.
struct Incoming {
    /// Before its body, which it is a child of.
    stream: Option<InputStream>,
    _body: IncomingBody,
}

/// How much is read at once.
const PIECE: u64 = 64 << 10;

impl http_body::Body for Incoming {
    type Data = bytes::Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, BodyError>>> {
        let Some(stream) = &self.stream else { return std::task::Poll::Ready(None) };
        std::task::Poll::Ready(match stream.blocking_read(PIECE) {
            Ok(bytes) => Some(Ok(http_body::Frame::data(bytes.into()))),
            Err(StreamError::Closed) => {
                self.stream = None;
                None
            }
            Err(StreamError::LastOperationFailed(error)) => Some(Err(error.to_debug_string().into())),
        })
    }
}

fn send(response: Response, answer: ResponseOutparam) {
    let (parts, mut body) = response.into_http().into_parts();
    let fields = Fields::new();
    for (name, value) in &parts.headers {
        // A field that the host keeps for itself is the host's to set.
        let _ = fields.append(name.as_str(), value.as_bytes());
    }
    if let Some(length) = length(parts.status, &parts.headers, &body) {
        let _ = fields.append("content-length", length.to_string().as_bytes());
    }
    let outgoing = OutgoingResponse::new(fields);
    if outgoing.set_status_code(parts.status.as_u16()).is_err() {
        return;
    }
    let Ok(outgoing_body) = outgoing.body() else { return };
    ResponseOutparam::set(answer, Ok(outgoing));
    let sent = body.is_empty() || write(&mut body, &outgoing_body).is_ok();
    if sent {
        let _ = OutgoingBody::finish(outgoing_body, None);
    }
    // A body that broke off is dropped without its end, and its client hears of it.
}

/// The length that is to be said of a body, if it is known and nobody has said it. Without a body there is nothing to
/// count in some answers (RFC 9110, 8.6).
pub(super) fn length(status: StatusCode, headers: &HeaderMap, body: &Body) -> Option<u64> {
    let has_none = status.is_informational() || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if has_none || headers.contains_key(http::header::CONTENT_LENGTH) { None } else { body.len() }
}

fn write(body: &mut Body, outgoing: &OutgoingBody) -> Result<(), ()> {
    let stream = outgoing.write()?;
    loop {
        match instance::next_piece(body) {
            Ok(Some(bytes)) => write_bytes(&stream, &bytes).map_err(drop)?,
            Ok(None) => return Ok(()),
            Err(error) => {
                tracing::error!(target: "skep::request", "the body of an answer broke off: {error}");
                return Err(());
            }
        }
    }
}

/// As many bytes at once as the stream takes: the call that takes any number of them takes 4096.
fn write_bytes(stream: &OutputStream, mut bytes: &[u8]) -> Result<(), StreamError> {
    while !bytes.is_empty() {
        let room = usize::try_from(stream.check_write()?).unwrap_or(usize::MAX);
        if room == 0 {
            stream.subscribe().block();
            continue;
        }
        let (now, later) = bytes.split_at(room.min(bytes.len()));
        stream.write(now)?;
        bytes = later;
    }
    Ok(())
}
