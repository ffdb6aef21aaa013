//! Bodies that are made on the thread of their handler, and read on another one.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_channel::{mpsc, oneshot};
use futures_core::Stream;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use skep_units::panic::CatchPanic;

use crate::base::cancel::unless_canceled;
use skep_http::body::{Body, BodyError};

type Piece = Result<Frame<Bytes>, BodyError>;

/// What its reader finds if the driver is gone before its end.
const CUT: &str = "the thread that makes this body has ended";

/// The other end of a body.
struct Pumped {
    /// `None` is the end.
    pieces: mpsc::Receiver<Option<Piece>>,
    is_over: bool,
    hint: SizeHint,
    /// Dropped with the body, which ends the work.
    _end: oneshot::Receiver<()>,
}

/// Puts the other end in the place of a body, and gives the work of making its pieces: one ahead of who reads them.
pub(super) fn pumped(body: &mut Body) -> impl Future<Output = ()> + use<> {
    let (sender, pieces) = mpsc::channel(0);
    let (end, receiver) = oneshot::channel();
    let hint = http_body::Body::size_hint(body);
    let source = std::mem::replace(body, Body::stream(Pumped { pieces, is_over: false, hint, _end: receiver }));
    unless_canceled(pump(source, sender), end)
}

/// Makes the pieces. A panic in one is an error of its body alone.
async fn pump(mut source: Body, mut sender: mpsc::Sender<Option<Piece>>) {
    loop {
        let made = CatchPanic(pin!(source.frame())).await;
        let piece = made.unwrap_or_else(|panicked| Some(Err(panicked.into())));
        let is_last = piece.as_ref().is_none_or(Result::is_err);
        let is_sent = poll_fn(|cx| sender.poll_ready(cx)).await.and_then(|()| sender.start_send(piece));
        if is_last || is_sent.is_err() {
            return;
        }
    }
}

impl http_body::Body for Pumped {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let piece = ready!(Pin::new(&mut self.pieces).poll_next(cx)).unwrap_or_else(|| Some(Err(CUT.into())));
        // It was of the whole body.
        self.hint = SizeHint::default();
        self.is_over = piece.as_ref().is_none_or(Result::is_err);
        Poll::Ready(piece)
    }

    fn size_hint(&self) -> SizeHint {
        self.hint
    }
}
