//! What the content and the length of a response are, whatever its handler said of them.
//!
//! HTTP/1, HTTP/2 and components send what this leaves: [`Response::settle`] is called for every response, before
//! fields that are written already are added to it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use http_body::{Frame, SizeHint};

use crate::body::{Body, BodyError};
use crate::ext::{BodyExt as _, ResponseExt as _};
use crate::response::Response;

impl Response {
    /// Takes the content away that a response to HEAD (RFC 9110, 9.3.2) and one with such a status (15.3.5, 15.3.6,
    /// 15.4.5) does not have, and a `Content-Length` that is wrong (8.6). Of a body whose length is not known, what was
    /// said counts, and the body has to keep to it.
    #[doc(hidden)]
    pub fn settle(&mut self, is_head: bool) {
        let status = self.status();
        // A body that is here has the length that is written for it, unless a field says something of that.
        let is_plain = !is_head && status == StatusCode::OK && self.map().is_none() && !self.body().is_stream();
        if is_plain || status.is_informational() || self.body().is_upgrade() {
            return;
        }
        let said = self.map().and_then(said_length);
        let body = std::mem::take(self.body_mut());
        if is_without_content(status) {
            // The length of a 304 would be that of what the client has stored, which is not known here.
            let headers = self.own_headers_mut();
            headers.remove(CONTENT_LENGTH);
            if !body.is_empty() {
                headers.remove(CONTENT_TYPE);
                headers.remove(CONTENT_ENCODING);
            }
            return;
        }
        match (body.len(), said) {
            // The handler has left the content out itself.
            (Some(0), Some(Ok(_))) if is_head => {}
            // The length of what would be compressed is not known.
            (Some(0), _) if is_head && self.field(&CONTENT_ENCODING).is_some() => {
                self.own_headers_mut().remove(CONTENT_LENGTH);
            }
            (Some(length), said) if is_head || said.is_some_and(|said| said != Ok(length)) => {
                self.own_headers_mut().insert(CONTENT_LENGTH, length.into());
            }
            (None, Some(Err(NoLength))) => drop(self.own_headers_mut().remove(CONTENT_LENGTH)),
            _ => {}
        }
        // A stream may be mistaken in what it says of its length, too.
        let length = body.len().or(said.and_then(Result::ok));
        *self.body_mut() = match length {
            _ if is_head => Body::empty(),
            Some(left) if body.is_stream() => Body::stream(Exact { body, left }),
            _ => body,
        };
    }

    /// The same for a response that may have been settled: of one to HEAD without a body, no length was known.
    #[doc(hidden)]
    pub fn settle_again(&mut self, is_head: bool) {
        let is_settled = is_head && self.body().is_empty() && self.map().and_then(said_length) != Some(Err(NoLength));
        if !is_settled || is_without_content(self.status()) {
            self.settle(is_head);
        }
    }
}

fn is_without_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// What is said of the length is no number, or said twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoLength;

fn said_length(headers: &HeaderMap) -> Option<Result<u64, NoLength>> {
    let mut fields = headers.get_all(CONTENT_LENGTH).iter();
    let field = fields.next()?;
    let digits = field.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let length = digits.and_then(|digits| digits.parse().ok()).filter(|_| fields.next().is_none());
    Some(length.ok_or(NoLength))
}

/// A stream whose length was said. It breaks off where it is another one, so that no client takes it for complete.
struct Exact {
    body: Body,
    left: u64,
}

impl http_body::Body for Exact {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx)).transpose()?;
        let Some(frame) = frame else {
            let left = std::mem::take(&mut self.left);
            let error = || format!("it is {left} bytes shorter than its Content-Length").into();
            return Poll::Ready((left > 0).then(|| Err(error())));
        };
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        match self.left.checked_sub(length) {
            Some(left) => self.left = left,
            None => return Poll::Ready(Some(Err("it is longer than its Content-Length".into()))),
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0 && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
