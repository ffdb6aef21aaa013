//! The body of an HTTP/1 request between the connection, which receives it, and the application, which reads it.
//!
//! One piece at a time: the next is received when the application asks for it. What it does not ask for is dropped
//! after the response, if there is little of it, so that the connection goes on.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use skep::body::{BodyError, BodyFailure};
use skep_units::lock;

use crate::http1::{Chunked, Decoded, Validated};

/// The application's end. It may be read on any thread.
#[derive(Debug)]
pub(crate) struct Incoming {
    shared: Arc<Mutex<Shared>>,
    /// How many bytes are still to be read, if that is known.
    left: Option<u64>,
    has_ended: bool,
}

/// The connection's end.
#[derive(Debug)]
pub(super) struct BodyReceiver {
    shared: Arc<Mutex<Shared>>,
    encoding: Encoding,
    /// The client waits for `100 Continue`.
    continue_is_due: bool,
    /// It cannot be read any further.
    is_broken: bool,
}

/// How a body is sent.
#[derive(Debug)]
pub(super) enum Encoding {
    /// This many bytes are left.
    Length(u64),
    Chunked(Chunked),
}

/// What the application was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Nothing,
    /// A piece, or why reading it failed.
    Piece,
    /// The last piece, or the end.
    All,
}

#[derive(Debug, Default)]
struct Shared {
    piece: Option<Bytes>,
    /// Nothing follows the piece, or why.
    end: Option<Result<(), BodyError>>,
    is_wanted: bool,
    reader: Option<Waker>,
    connection: Option<Waker>,
}

/// Wakes another task. This one goes on by itself.
fn wake(waker: Option<Waker>, cx: &Context<'_>) {
    if let Some(waker) = waker.filter(|waker| !waker.will_wake(cx.waker())) {
        waker.wake();
    }
}

impl Incoming {
    /// Both ends of a body.
    pub(super) fn new(encoding: Encoding, continue_is_due: bool) -> (Self, BodyReceiver) {
        let shared = Arc::<Mutex<Shared>>::default();
        let left = if let Encoding::Length(length) = encoding { Some(length) } else { None };
        let incoming = Self { shared: Arc::clone(&shared), left, has_ended: false };
        (incoming, BodyReceiver { shared, encoding, continue_is_due, is_broken: false })
    }
}

/// Appends data of which at most `more` bytes follow. One chunk is not given more memory than it needs.
fn append(piece: &mut Vec<u8>, data: &[u8], more: usize) {
    if piece.is_empty() {
        piece.reserve_exact(data.len());
    } else if piece.len() + data.len() > piece.capacity() {
        piece.reserve_exact(data.len() + more);
    }
    piece.extend_from_slice(data);
}

impl Encoding {
    /// What these bytes begin with, and how many of them that is.
    pub(super) fn decode<'b>(&mut self, bytes: &'b [u8]) -> Validated<(usize, Decoded<'b>)> {
        match self {
            Self::Length(0) => Ok((0, Decoded::End)),
            Self::Length(left) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= count as u64;
                Ok((count, if count == 0 { Decoded::More } else { Decoded::Data(&bytes[..count]) }))
            }
            Self::Chunked(chunked) => chunked.decode(bytes),
        }
    }
}

impl BodyReceiver {
    /// True if the application waits for a piece.
    pub(super) fn wants_more(&self, cx: &Context<'_>) -> bool {
        let mut shared = lock(&self.shared);
        if shared.connection.as_ref().is_none_or(|known| !known.will_wake(cx.waker())) {
            shared.connection = Some(cx.waker().clone());
        }
        shared.is_wanted && !self.is_broken
    }

    /// True if the rest of the body may be dropped, so that another request can follow. That of a client which waits
    /// for `100 Continue` may never come, and then what comes is not the body (RFC 9110, 10.1.1).
    pub(super) fn can_be_dropped(&self, most: u64) -> bool {
        let is_short = match self.encoding {
            Encoding::Length(left) => left <= most,
            // Nobody knows.
            Encoding::Chunked(_) => most > 0,
        };
        is_short && !self.is_broken && !self.continue_is_due
    }

    /// The rest, which the application will not read.
    pub(super) fn into_rest(mut self) -> Encoding {
        std::mem::replace(&mut self.encoding, Encoding::Length(0))
    }

    /// True once, if the client waits for `100 Continue`.
    pub(super) fn takes_continue(&mut self) -> bool {
        std::mem::take(&mut self.continue_is_due)
    }

    /// Takes all data from these bytes as one piece, and says how many it has used. A client may send each byte in a
    /// chunk of its own.
    pub(super) fn take(&mut self, bytes: &[u8], cx: &Context<'_>) -> (usize, Taken) {
        let (mut used, mut piece) = (0, Vec::new());
        let end = loop {
            if let Encoding::Chunked(chunked) = &mut self.encoding {
                used += chunked.take_small(&bytes[used..], &mut piece);
            }
            match self.encoding.decode(&bytes[used..]) {
                Ok((count, Decoded::Data(data))) => {
                    used += count;
                    append(&mut piece, data, bytes.len() - used);
                    if matches!(self.encoding, Encoding::Length(0)) {
                        break Some(Ok(()));
                    }
                }
                Ok((count, Decoded::More)) => {
                    used += count;
                    break None;
                }
                Ok((count, Decoded::End)) => {
                    used += count;
                    break Some(Ok(()));
                }
                Err(rejection) => {
                    self.is_broken = true;
                    used = bytes.len();
                    break Some(Err(BodyFailure::new(rejection.status, rejection.message).into()));
                }
            }
        };
        let taken = match &end {
            Some(Ok(())) => Taken::All,
            None if piece.is_empty() => return (used, Taken::Nothing),
            None | Some(Err(_)) => Taken::Piece,
        };
        let piece = (!piece.is_empty()).then(|| Bytes::from(piece.into_boxed_slice()));
        self.change(|shared| (shared.piece, shared.end) = (piece, end), cx);
        (used, taken)
    }

    /// Tells the application why the rest does not come.
    pub(super) fn fail(&mut self, why: BodyError, cx: &Context<'_>) {
        self.is_broken = true;
        self.change(|shared| shared.end = Some(Err(why)), cx);
    }

    fn change(&self, change: impl FnOnce(&mut Shared), cx: &Context<'_>) {
        let mut shared = lock(&self.shared);
        change(&mut shared);
        shared.is_wanted = false;
        let reader = shared.reader.take();
        drop(shared);
        wake(reader, cx);
    }
}

impl Drop for BodyReceiver {
    /// The connection has ended: a task that reads elsewhere learns it.
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        if shared.end.is_none() {
            shared.end = Some(Err("the connection ended before the body was complete".into()));
        }
        let reader = shared.reader.take();
        drop(shared);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let mut shared = lock(&this.shared);
        if let Some(piece) = shared.piece.take() {
            this.left = this.left.map(|left| left.saturating_sub(piece.len() as u64));
            this.has_ended = matches!(shared.end, Some(Ok(())));
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match &mut shared.end {
            Some(end) => {
                this.has_ended = true;
                let failed = std::mem::replace(end, Ok(())).err();
                return Poll::Ready(failed.map(Err));
            }
            None => {
                shared.is_wanted = true;
                shared.reader = Some(cx.waker().clone());
                let connection = shared.connection.clone();
                drop(shared);
                wake(connection, cx);
            }
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/connection/incoming.rs"]
mod tests;
