//! The script tag in a page that passes through.
//!
//! It stands behind the page, where a browser takes it for part of the body: `</body>` may also be text in a script.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};

/// A page with the tag in it.
#[derive(Debug)]
pub(crate) struct Injected {
    page: Incoming,
    /// None once the page has ended.
    tag: Option<String>,
}

impl Injected {
    pub(crate) fn new(page: Incoming, tag: String) -> Self {
        Self { page, tag: Some(tag) }
    }
}

impl Body for Injected {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.page).poll_frame(cx)?);
        if let Some(frame) = frame
            && (frame.is_data() || self.tag.is_none())
        {
            return Poll::Ready(Some(Ok(frame)));
        }
        // Nothing follows trailers, and no script needs them.
        Poll::Ready(self.tag.take().map(|tag| Ok(Frame::data(tag.into()))))
    }
}
