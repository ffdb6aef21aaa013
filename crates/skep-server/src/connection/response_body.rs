//! The body of a response over HTTP/2, as hyper reads it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use skep::body::{Body, BodyError};

use super::exchange::{Answered, Exchange};
use super::turn;

/// The body of a response. The [`Exchange`] ends with it, or with its connection.
pub(crate) struct ResponseBody {
    pieces: Pieces,
    /// None of a response whose stream goes on as a byte stream.
    exchange: Option<Exchange>,
}

impl ResponseBody {
    /// The response as hyper takes it.
    pub(super) fn of(answered: Answered) -> http::Response<Self> {
        let Answered { mut response, mut exchange, .. } = answered;
        if exchange.is_head() {
            // A response of the server itself has a body, whatever the method.
            response.settle_again(true);
        }
        exchange.set_status(response.status());
        response.into_http().map(|body| Self { pieces: Pieces { body, frame: Bytes::new() }, exchange: Some(exchange) })
    }
}

impl ResponseBody {
    /// No body: what follows is no part of the response.
    pub(super) fn empty() -> Self {
        Self { pieces: Pieces { body: Body::empty(), frame: Bytes::new() }, exchange: None }
    }
}

/// A body in pieces. What its client has no room for yet is not handed to hyper, which would hold it without a
/// deadline.
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

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        ready!(turn::poll_time(cx));
        let frame = self.pieces.poll_frame(cx);
        let Some(exchange) = &mut self.exchange else { return frame };
        exchange.connection().set_stream_state(frame.is_pending());
        let frame = ready!(frame);
        match &frame {
            Some(Ok(frame)) => exchange.count(frame.data_ref().map_or(0, Bytes::len)),
            Some(Err(error)) => tracing::warn!(%error, "a response body failed"),
            None => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.pieces.size_hint()
    }
}
