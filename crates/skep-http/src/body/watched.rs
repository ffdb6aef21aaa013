//! Bodies that break off once something no longer holds for which they were sent: the user has signed out.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Body, BodyError, BoxedBody, Kind};
use crate::upgrade::Watch;

struct Watched {
    body: BoxedBody,
    watch: Box<dyn Watch>,
    /// Its reader comes back: an end is no loss.
    is_events: bool,
    is_over: bool,
}

/// Why a body broke off.
#[derive(Debug)]
struct Revoked;

skep_units::error_text!(Revoked, |_revoked| "its user has signed out, or was signed out");

extension! {
    /// What a guard that is asked again does with a body.
    pub trait WatchedExt for Body {
        /// True if it is sent for longer than a moment, perhaps without an end.
        fn goes_on(&self) -> bool {
            matches!(self.kind, Kind::Stream(..) | Kind::Upgrade(_))
        }

        /// The same, as long as the watch says so. Server-sent events end, so that browsers connect again; what else is
        /// a stream breaks off.
        #[must_use]
        fn watched(self, watch: Box<dyn Watch>, is_events: bool) -> Self {
            let kind = match self.kind {
                Kind::Stream(body, held) => {
                    Kind::Stream(Box::pin(Watched { body, watch, is_events, is_over: false }), held)
                }
                Kind::Upgrade(upgrade) => Kind::Upgrade(upgrade.watched(watch)),
                whole => whole,
            };
            Self { kind }
        }
    }
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if ready!(self.watch.poll_holds(cx)) {
            return self.body.as_mut().poll_frame(cx);
        }
        self.is_over = true;
        Poll::Ready((!self.is_events).then(|| Err(Revoked.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
