//! A body that is compressed as it is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame};

use super::apply::PIECE;
use super::encoder::Encoder;
use crate::body::{Body, BodyError};
use crate::quota::Share;

/// Reads a body, and is read as the compressed one.
///
/// After each piece, other requests of the thread have their turn. What a stream has at hand is compressed together,
/// and sent as soon as it has no more: its client sees every piece without delay.
pub(super) struct Pieces {
    source: Body,
    /// What is left of the source's last frame.
    rest: Bytes,
    /// `None` after the end.
    encoder: Option<Encoder>,
    /// Something was written to the encoder that the client may not see yet.
    is_unflushed: bool,
    /// A piece was compressed in this turn.
    has_worked: bool,
    /// Counts this body.
    _share: Share,
}

impl Pieces {
    pub(super) fn body(source: Body, encoder: Encoder, share: Share) -> Body {
        let held = source.held();
        let pieces = Self {
            source,
            rest: Bytes::new(),
            encoder: Some(encoder),
            is_unflushed: false,
            has_worked: false,
            _share: share,
        };
        Body::stream_holding(pieces, held)
    }

    /// The next bytes of the source; empty at its end.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<()>, BodyError>> {
        while self.rest.is_empty() {
            match Pin::new(&mut self.source).poll_frame(cx) {
                // Trailers are not sent.
                Poll::Ready(Some(Ok(frame))) => self.rest = frame.into_data().unwrap_or_default(),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(Some(())))
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let data = |made: Vec<u8>| Poll::Ready(Some(Ok(Frame::data(Bytes::from(made)))));
        loop {
            if this.encoder.is_none() {
                return Poll::Ready(None);
            }
            if std::mem::take(&mut this.has_worked) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let next = this.poll_rest(cx);
            let Some(encoder) = &mut this.encoder else { return Poll::Ready(None) };
            match next {
                Poll::Ready(Ok(Some(()))) => {
                    encoder.write(&this.rest.split_to(this.rest.len().min(PIECE)));
                    (this.is_unflushed, this.has_worked) = (true, true);
                }
                Poll::Ready(Ok(None)) => return data(this.encoder.take().map(Encoder::finish).unwrap_or_default()),
                Poll::Ready(Err(error)) => {
                    this.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Pending if std::mem::take(&mut this.is_unflushed) => encoder.flush(),
                Poll::Pending => return Poll::Pending,
            }
            let made = encoder.take();
            if !made.is_empty() {
                return data(made);
            }
        }
    }
}
