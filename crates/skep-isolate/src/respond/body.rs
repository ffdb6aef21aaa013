//! The body of a response whose guest still runs.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;
use skep::body::BodyError;
use tokio::sync::futures::OwnedNotified;
use tokio::sync::{Notify, oneshot};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

/// What follows the pieces that have arrived.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Rest {
    #[default]
    Open,
    Ended,
    Trailers(HeaderMap),
    Broken,
}

/// How the guest ended. The channel of its body ends alike after a return and after a trap.
#[derive(Clone, Default)]
pub(super) struct End {
    how: Arc<AtomicU8>,
    told: Arc<Notify>,
}

const WELL: u8 = 1;
const BADLY: u8 = 2;

impl End {
    /// It returned.
    pub(super) fn well(&self) {
        self.tell(WELL);
    }

    /// It failed: the body is incomplete.
    pub(super) fn badly(&self) {
        self.tell(BADLY);
    }

    fn tell(&self, how: u8) {
        self.how.store(how, Ordering::Release);
        self.told.notify_waiters();
    }
}

/// A body that is being sent.
pub(super) struct Streamed {
    pieces: VecDeque<Bytes>,
    rest: Rest,
    body: Option<HyperOutgoingBody>,
    end: End,
    waiting: Option<Pin<Box<OwnedNotified>>>,
    /// Dropped with the body.
    held: Option<oneshot::Sender<()>>,
    /// Called if the guest does not finish it.
    pub(super) broken: Option<Box<dyn FnOnce() + Send>>,
}

impl Streamed {
    pub(super) fn new(pieces: VecDeque<Bytes>, rest: Rest, body: Option<HyperOutgoingBody>) -> (Self, End) {
        let end = End::default();
        (Self { pieces, rest, body, end: end.clone(), waiting: None, held: None, broken: None }, end)
    }

    /// The receiver resolves when the body is dropped.
    pub(super) fn holds(&mut self) -> oneshot::Receiver<()> {
        let (held, gone) = oneshot::channel();
        self.held = Some(held);
        gone
    }

    fn unfinished(&mut self) -> BodyError {
        if let Some(broken) = self.broken.take() {
            broken();
        }
        "the guest did not finish its response".into()
    }

    /// Waits for the guest to end, after its channel has: only then the body is known to be complete.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(Arc::clone(&self.end.told).notified_owned()));
            waiting.as_mut().enable();
            match self.end.how.load(Ordering::Acquire) {
                WELL => return Poll::Ready(None),
                BADLY => return Poll::Ready(Some(Err("the guest failed before its response was complete".into()))),
                _ => std::task::ready!(waiting.as_mut().poll(cx)),
            }
            self.waiting = None;
        }
    }
}

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if let Some(piece) = this.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match std::mem::replace(&mut this.rest, Rest::Ended) {
            Rest::Ended => Poll::Ready(None),
            Rest::Trailers(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Rest::Broken => Poll::Ready(Some(Err(this.unfinished()))),
            Rest::Open => {
                let polled = match &mut this.body {
                    Some(body) => Pin::new(body).poll_frame(cx),
                    None => Poll::Ready(None),
                };
                match polled {
                    Poll::Ready(None) => {
                        this.body = None;
                        let ended = this.poll_end(cx);
                        if ended.is_pending() {
                            this.rest = Rest::Open;
                        }
                        ended
                    }
                    Poll::Ready(Some(Err(_))) => Poll::Ready(Some(Err(this.unfinished()))),
                    other => {
                        this.rest = Rest::Open;
                        other.map(|frame| frame.map(|frame| frame.map_err(|error| error.to_string().into())))
                    }
                }
            }
        }
    }
}
