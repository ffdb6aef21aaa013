//! A response's body, whose server may not rest.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use object_store::client::{HttpError, HttpErrorKind};
use tokio::time::{Sleep, sleep};

/// A body, of which the next bytes come within a time, once they are asked for.
pub(super) struct Timed {
    body: Incoming,
    time: Duration,
    /// Ends where bytes are waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl Timed {
    pub(super) fn new(body: Incoming, time: Duration) -> Self {
        Self { body, time, end: None }
    }
}

impl Body for Timed {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            self.end = None;
            let broken = |error| HttpError::new(HttpErrorKind::Interrupted, error);
            return Poll::Ready(frame.map(|frame| frame.map_err(broken)));
        }
        let time = self.time;
        ready!(self.end.get_or_insert_with(|| Box::pin(sleep(time))).as_mut().poll(cx));
        let slow = io::Error::new(io::ErrorKind::TimedOut, format!("no byte came for {time:?} (storage.timeout)"));
        Poll::Ready(Some(Err(HttpError::new(HttpErrorKind::Timeout, slow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
