//! The body of a response.
//!
//! Small and streamed bodies pass through hyper's buffer. A large one that is complete (a file, or bytes in memory) goes to the
//! [`Wire`](super::wire::Wire) directly; hyper only learns its length.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http_body::{Body as _, Frame, SizeHint};
use skep::body::{Body, BodyError, FileSlice};

use super::exchange::Exchange;

/// From this size on, a body in memory is sent without copying.
const LARGE: usize = 16 << 10;

/// The body of a response. The [`Exchange`] ends with it, or with its connection.
pub(crate) struct ResponseBody {
    body: Kind,
    /// `None` once the wire has the body.
    exchange: Option<Exchange>,
}

enum Kind {
    Body(Body),
    Http2(Pieces),
    /// A body for the wire; `None` once the wire has it.
    DirectBody(Option<DirectBody>),
}

/// A body that the wire sends without hyper.
#[derive(Debug)]
pub(crate) enum DirectBody {
    File(FileSlice),
    Bytes(Bytes),
}

/// A part of a body, as hyper sees it.
#[derive(Debug)]
pub(crate) enum Chunk {
    Bytes(Bytes),
    /// This many bytes are sent by the wire, right after the head. hyper counts them and does not see them.
    OutOfBand(usize),
}

impl ResponseBody {
    pub(crate) fn new(response: http::Response<Body>, exchange: Exchange) -> http::Response<Self> {
        let (mut parts, body) = response.into_parts();
        let body = choose(body, &mut parts.headers, &exchange);
        http::Response::from_parts(parts, Self { body, exchange: Some(exchange) })
    }
}

fn choose(body: Body, headers: &mut http::HeaderMap, exchange: &Exchange) -> Kind {
    if exchange.connection().wire().is_http2() {
        return Kind::Http2(Pieces { body, frame: Bytes::new() });
    }
    let small = body.as_whole().is_some_and(|bytes| bytes.len() < LARGE);
    if small || headers.contains_key(TRANSFER_ENCODING) {
        return Kind::Body(body);
    }
    let wire = exchange.connection().wire();
    let direct = match body.into_file() {
        Ok(file) if wire.supports_sendfile() => DirectBody::File(file),
        Ok(file) => return Kind::Body(Body::file(file)),
        Err(mut body) => match whole(&mut body) {
            Some(bytes) => DirectBody::Bytes(bytes),
            None => return Kind::Body(body),
        },
    };
    // hyper writes the length of what is sent.
    headers.remove(CONTENT_LENGTH);
    Kind::DirectBody(Some(direct))
}

/// A body for HTTP/2. What its client has no room for yet is not handed to hyper, which would hold it without a deadline.
struct Pieces {
    body: Body,
    /// What is left of the last frame.
    frame: Bytes,
}

/// The size of a frame (RFC 9113, 4.2).
const PIECE: usize = 16 << 10;

impl Pieces {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.frame.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)).transpose()?.map(Frame::into_data) {
                Some(Ok(data)) if data.len() > PIECE => self.frame = data,
                Some(Ok(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Some(Err(trailers)) => return Poll::Ready(Some(Ok(trailers))),
                None => return Poll::Ready(None),
            }
        }
        let piece = self.frame.split_to(self.frame.len().min(PIECE));
        // The last one would keep the memory of all.
        let piece = if self.frame.is_empty() { Bytes::copy_from_slice(&piece) } else { piece };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.frame.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, left) = (self.body.size_hint(), self.frame.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + left);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + left);
        }
        hint
    }
}

/// The bytes of a body that is complete.
fn whole(body: &mut Body) -> Option<Bytes> {
    body.as_whole()?;
    match http_body::Body::poll_frame(Pin::new(body), &mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        _ => None,
    }
}

impl DirectBody {
    /// The number of bytes still to be sent.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File(slice) => slice.len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// This many bytes have been sent.
    pub(crate) fn advance(&mut self, count: usize) {
        match self {
            Self::File(slice) => {
                slice.start += count as u64;
                slice.len -= count as u64;
            }
            Self::Bytes(bytes) => bytes.advance(count),
        }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Chunk;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Chunk>, BodyError>>> {
        let this = &mut *self;
        let frame = match &mut this.body {
            Kind::Body(body) => Pin::new(body).poll_frame(cx),
            Kind::Http2(pieces) => pieces.poll_frame(cx),
            Kind::DirectBody(direct) => {
                let Some((direct, exchange)) = direct.take().zip(this.exchange.take()) else {
                    return Poll::Ready(None);
                };
                let length = usize::try_from(direct.len())?;
                exchange.send_direct(direct);
                return Poll::Ready(Some(Ok(Frame::data(Chunk::OutOfBand(length)))));
            }
        };
        if let Some(exchange) = &this.exchange {
            exchange.connection().set_stream_state(frame.is_pending());
        }
        let frame = ready!(frame);
        match (&frame, &mut this.exchange) {
            (Some(Ok(frame)), Some(exchange)) => exchange.count(frame.data_ref().map_or(0, Bytes::len)),
            (Some(Err(error)), _) => tracing::warn!(%error, "a response body failed"),
            _ => {}
        }
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(Chunk::Bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Kind::Body(body) => body.is_end_stream(),
            Kind::Http2(pieces) => pieces.is_end_stream(),
            Kind::DirectBody(direct) => direct.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Kind::Body(body) => body.size_hint(),
            Kind::Http2(pieces) => pieces.size_hint(),
            Kind::DirectBody(direct) => SizeHint::with_exact(direct.as_ref().map_or(0, DirectBody::len)),
        }
    }
}

// An out-of-band chunk has a length but no bytes, which `Buf` does not foresee (`chunk` must not be empty while bytes remain). hyper copies what
// `chunk` returns into its buffer and counts what remains, so it sends the head only. That is undocumented: hyper's version is exact, and the test
// below fails if it changes.
impl Buf for Chunk {
    fn remaining(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::OutOfBand(length) => *length,
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::OutOfBand(_) => &[],
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(count),
            Self::OutOfBand(length) => *length -= count,
        }
    }
}

pub(crate) type ResponseResult = Result<http::Response<ResponseBody>, Infallible>;

#[cfg(test)]
#[path = "../../tests/unit/connection/response_body.rs"]
mod tests;
