//! The body of a request, on its way in.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use skep::body::{BodyError, BodyFailure};
use tokio::time::{Instant, Sleep};

/// A body that may be slow, but not silent.
pub(crate) struct Arriving {
    body: Incoming,
    idle: Duration,
    /// Made when the client first lets us wait.
    timer: Option<Pin<Box<Sleep>>>,
    waiting: bool,
    ended: Arc<AtomicBool>,
}

impl Arriving {
    /// `ended` becomes true when the last byte has been read.
    pub(crate) fn new(body: Incoming, idle: Duration, ended: Arc<AtomicBool>) -> Self {
        Self { body, idle, timer: None, waiting: false, ended }
    }

    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(self.idle)));
        if !self.waiting {
            self.waiting = true;
            timer.as_mut().reset(Instant::now() + self.idle);
        }
        timer.as_mut().poll(cx)
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.waiting = false;
                if frame.is_none() || self.body.is_end_stream() {
                    self.ended.store(true, Ordering::Relaxed);
                }
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending if self.poll_patience(cx).is_ready() => {
                let silent = BodyFailure::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive");
                Poll::Ready(Some(Err(silent.into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
