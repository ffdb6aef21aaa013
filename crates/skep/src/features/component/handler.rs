//! Requests and responses in one buffer each: the interface `handler` of `wit/skep.wit`.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Method, StatusCode, Uri};
use http_body::Frame;

use super::http::length;
use super::sys::Seed;
use crate::host::component::functions::Host;
use skep_http::body::{Body, BodyError, BodyFailure};
use skep_http::request::{Peer, Request};
use skep_http::response::Response;
use skep_http::wire::Hint;
use skep_http::wire::request::{EMPTY, FOLLOWS, Head, WHOLE, read_fields, write_fields};
use skep_http::wire::{Reader, Writer};

/// The request, and a seed for its instance. `None` if it is not what was agreed upon.
pub(super) fn read(bytes: &Bytes, host: &'static Host) -> Option<(Request, Seed)> {
    let mut reader = Reader::new(bytes);
    let head = Head::read(&mut reader).ok()?;
    let mut parts = http::Request::new(()).into_parts().0;
    parts.method = Method::from_bytes(head.method.as_bytes()).ok()?;
    parts.uri = Uri::try_from(head.target).ok()?;
    parts.headers = read_fields(&mut reader).ok()?;
    if !head.authority.is_empty() && !parts.headers.contains_key(HOST) {
        parts.headers.insert(HOST, HeaderValue::from_str(head.authority).ok()?);
    }
    let body = match reader.u8().ok()? {
        EMPTY => Body::empty(),
        WHOLE => bytes.slice_ref(reader.rest()).into(),
        _ => Body::stream(Incoming { host }),
    };
    let peer = Peer::new(head.address.parse().ok(), head.tls);
    Some((Request::new(parts, body).with_peer(peer).with_id(head.id), head.seed))
}

/// The answer, and what of its body is to follow.
pub(super) fn write(response: Response) -> (Vec<u8>, Option<Body>) {
    let (parts, body) = response.into_http().into_parts();
    let whole = body.as_whole();
    let mut out = Writer::with_capacity(256 + 64 * parts.headers.len() + whole.map_or(0, <[u8]>::len));
    out.u16(parts.status.as_u16());
    // A body that is here says its length itself.
    let length = if whole.is_some() { None } else { length(parts.status, &parts.headers, &body) };
    let hint = parts.extensions.get::<Hint>();
    write_fields(&mut out, &parts.headers, usize::from(length.is_some()), hint);
    if let Some(length) = length {
        out.bytes(b"content-length");
        out.bytes(length.to_string().as_bytes());
    }
    match whole {
        Some(bytes) => {
            out.u8(WHOLE);
            out.rest(bytes);
            (out.finish(), None)
        }
        None => {
            out.u8(FOLLOWS);
            (out.finish(), Some(body))
        }
    }
}

/// The body of a request that the host reads for us.
struct Incoming {
    host: &'static Host,
}

impl http_body::Body for Incoming {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(read) = self.host.body else { return Poll::Ready(Some(Err("its host keeps the rest".into()))) };
        Poll::Ready(match read() {
            Ok(piece) => piece.map(|bytes| Ok(Frame::data(bytes.into()))),
            Err((status, text)) => Some(Err(match StatusCode::from_u16(status) {
                Ok(status) => BodyFailure::new(status, text).into(),
                Err(_) => text.into(),
            })),
        })
    }
}
