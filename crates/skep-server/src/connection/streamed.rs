//! The body of a response that is made piece by piece, over HTTP/1.

use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use http_body::Body as _;
use skep::Body;

use super::exchange::Exchange;
use super::{Connection, End, turn};
use crate::http1::ResponseLength;

/// A body, and what is left of its length.
pub(super) struct Streamed {
    pub(super) body: Body,
    pub(super) exchange: Exchange,
    pub(super) length: ResponseLength,
}

impl Streamed {
    /// Sends what is there. Nothing, if the whole body is sent and the connection goes on.
    pub(super) fn poll(&mut self, connection: &Connection, cx: &mut TaskContext<'_>) -> Poll<Option<End>> {
        loop {
            if connection.wire().is_full()
                && let Err(error) = ready!(connection.wire().poll_flush(cx))
            {
                return Poll::Ready(Some(End::Io(error)));
            }
            ready!(turn::poll_time(cx));
            let piece = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                // Trailers are not sent.
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    tracing::warn!(%error, "a response body failed");
                    return Poll::Ready(Some(End::Done));
                }
                None => break,
            };
            if self.push(piece, connection).is_err() {
                return Poll::Ready(Some(End::Done));
            }
        }
        match self.length {
            ResponseLength::Chunked => connection.wire().push(b"0\r\n\r\n"),
            // Too few bytes: only the end of the connection tells the client.
            ResponseLength::Known(1..) => return Poll::Ready(Some(End::Done)),
            _ => {}
        }
        Poll::Ready(None)
    }

    /// Writes a piece. An error if the body becomes longer than was said.
    fn push(&mut self, piece: Bytes, connection: &Connection) -> Result<(), ()> {
        if piece.is_empty() {
            return Ok(());
        }
        let bytes = piece.len();
        let mut wire = connection.wire();
        match &mut self.length {
            ResponseLength::Chunked => {
                wire.push(format!("{bytes:x}\r\n").as_bytes());
                wire.push(&piece);
                wire.push(b"\r\n");
            }
            ResponseLength::Known(left) => {
                let Some(rest) = left.checked_sub(bytes as u64) else {
                    tracing::warn!("a response body is longer than its Content-Length");
                    return Err(());
                };
                *left = rest;
                wire.send_piece(piece);
            }
            ResponseLength::Close | ResponseLength::None => wire.send_piece(piece),
        }
        self.exchange.count(bytes);
        Ok(())
    }
}
