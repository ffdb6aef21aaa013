//! Several parts of one file in one body (RFC 9110, 14.6).

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderValue;
use http_body::{Frame, SizeHint};

use super::resource::Content;
use crate::body::{Body, BodyError};

/// A `multipart/byteranges` body, and the `Content-Type` that names its boundary.
///
/// Holds the headers of the parts and one open file, however long the parts are.
pub(super) fn byteranges(
    content: &Content,
    len: u64,
    content_type: &HeaderValue,
    parts: &[Range<u64>],
) -> (HeaderValue, Body) {
    let boundary = boundary();
    let kind = String::from_utf8_lossy(content_type.as_bytes());
    let mut pieces = VecDeque::with_capacity(parts.len() * 2 + 1);
    for part in parts {
        let (first, last) = (part.start, part.end - 1);
        let head =
            format!("\r\n--{boundary}\r\nContent-Type: {kind}\r\nContent-Range: bytes {first}-{last}/{len}\r\n\r\n");
        pieces.push_back(Body::from(head));
        pieces.push_back(content.part(part.clone()));
    }
    pieces.push_back(Body::from(format!("\r\n--{boundary}--\r\n")));
    let header =
        HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}")).expect("hexadecimal digits");
    (header, Body::stream(Pieces { pieces }))
}

/// 128 random bits, drawn for each response: no file can have been made to contain them.
fn boundary() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// Bodies, one after another.
struct Pieces {
    pieces: VecDeque<Body>,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        while let Some(piece) = self.pieces.front_mut() {
            if let Some(frame) = ready!(Pin::new(piece).poll_frame(cx)) {
                return Poll::Ready(Some(frame));
            }
            self.pieces.pop_front();
        }
        Poll::Ready(None)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.pieces.iter().filter_map(Body::len).sum())
    }
}
