//! The body of a request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use skep::body::{BodyError, BodyFailure};
use tokio::time::{Instant, Sleep};

use super::Limits;
use super::turn;

/// How long the server waits for a body.
struct BodyLimits {
    /// For the next bytes.
    idle: Duration,
    /// Bytes a second, on average and after the first `idle`. 0: none.
    rate: u64,
    /// In all.
    time: Option<Duration>,
}

/// A request's body, with timeouts. Only waiting for the client counts, not the time in which the application does not
/// read.
pub(crate) struct RequestBody<B> {
    body: B,
    limits: BodyLimits,
    received: u64,
    waited: Duration,
    waiting_since: Option<Instant>,
    /// Created when the client is first waited for.
    timer: Option<Pin<Box<Sleep>>>,
    ended: Arc<AtomicBool>,
    /// A piece was given, so the next one may be too much for this turn.
    has_given: bool,
}

impl BodyLimits {
    /// How much longer the server waits for a client that has sent `received` bytes in the time `waited`.
    fn patience(&self, received: u64, waited: Duration) -> Duration {
        let by_rate = received.checked_div(self.rate).map(|seconds| self.idle + Duration::from_secs(seconds));
        let total = by_rate.into_iter().chain(self.time).min();
        total.map_or(self.idle, |total| total.saturating_sub(waited).min(self.idle))
    }
}

impl<B> RequestBody<B> {
    /// `ended` is set when the last byte has been read.
    pub(crate) fn new(body: B, limits: &Limits, ended: Arc<AtomicBool>) -> Self {
        let limits = BodyLimits { idle: limits.body_idle, rate: limits.body_rate, time: limits.body_time };
        let (received, waited, waiting_since, timer, has_given) = Default::default();
        Self { body, limits, received, waited, waiting_since, timer, ended, has_given }
    }

    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(Duration::ZERO)));
        if self.waiting_since.is_none() {
            let now = Instant::now();
            self.waiting_since = Some(now);
            timer.as_mut().reset(now + self.limits.patience(self.received, self.waited));
        }
        timer.as_mut().poll(cx)
    }
}

impl<B> http_body::Body for RequestBody<B>
where
    B: http_body::Body<Data = Bytes, Error: Into<BodyError>> + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.has_given {
            ready!(turn::poll_proceed(cx));
            self.has_given = false;
        }
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.has_given = true;
                if let Some(since) = self.waiting_since.take() {
                    self.waited += since.elapsed();
                }
                if let Some(Ok(frame)) = &frame {
                    self.received += frame.data_ref().map_or(0, |data| data.len() as u64);
                }
                if frame.is_none() || self.body.is_end_stream() {
                    self.ended.store(true, Ordering::Relaxed);
                }
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending if self.poll_patience(cx).is_ready() => {
                let slow = BodyFailure::new(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive");
                Poll::Ready(Some(Err(slow.into())))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_with_silence_a_low_rate_or_the_total_time() {
        const IDLE: Duration = Duration::from_secs(30);
        let secs = Duration::from_secs;
        let limits = BodyLimits { idle: IDLE, rate: 500, time: Some(secs(3600)) };
        assert_eq!(limits.patience(0, Duration::ZERO), IDLE);
        assert_eq!(limits.patience(50_000, secs(20)), IDLE, "fast enough");
        assert_eq!(limits.patience(1_000, secs(30)), secs(2), "a byte now and then is not enough");
        assert_eq!(limits.patience(u64::MAX, secs(3590)), secs(10));
        let lenient = BodyLimits { idle: IDLE, rate: 0, time: None };
        assert_eq!(lenient.patience(1, secs(100_000)), IDLE);
    }
}
