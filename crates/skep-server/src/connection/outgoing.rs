//! The body of an answer, on its way out.
//!
//! Small and streamed bodies go the way of all bytes, through hyper's buffer. A large one that is all here (a file, or
//! bytes in memory) is handed to the [`Wire`](super::wire::Wire) as it is: hyper hears only how long it is.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http_body::{Frame, SizeHint};
use skep::body::{Body, BodyError, FileSlice};

use super::answer::Answer;

/// From here on a body in memory is worth a system call of its own.
const LARGE: usize = 16 << 10;

/// The body of an answer. Its end, or the end of its connection, ends the [`Answer`].
pub(crate) struct Outgoing {
    body: Kind,
    /// Taken when the wire takes the body.
    answer: Option<Answer>,
}

enum Kind {
    Body(Body),
    /// For the wire; taken once it has it.
    Direct(Option<Direct>),
}

/// A body that the wire sends by itself.
#[derive(Debug)]
pub(crate) enum Direct {
    File(FileSlice),
    Bytes(Bytes),
}

/// A part of a body, as hyper sees it.
#[derive(Debug)]
pub(crate) enum Chunk {
    Bytes(Bytes),
    /// So many bytes that hyper must count and need not see: they are on the wire already, or will be right after the
    /// head.
    Elsewhere(usize),
}

impl Outgoing {
    pub(crate) fn new(response: http::Response<Body>, answer: Answer) -> http::Response<Self> {
        let (mut parts, body) = response.into_parts();
        let body = choose(body, &mut parts.headers, &answer);
        http::Response::from_parts(parts, Self { body, answer: Some(answer) })
    }
}

fn choose(body: Body, headers: &mut http::HeaderMap, answer: &Answer) -> Kind {
    let small = body.as_whole().is_some_and(|bytes| bytes.len() < LARGE);
    if small || headers.contains_key(TRANSFER_ENCODING) {
        return Kind::Body(body);
    }
    let wire = answer.connection().wire();
    let direct = match body.into_file() {
        Ok(file) if wire.takes_files() => Direct::File(file),
        Ok(file) => return Kind::Body(Body::file(file)),
        Err(body) if wire.is_raw() => return Kind::Body(body),
        Err(mut body) => match whole(&mut body) {
            Some(bytes) => Direct::Bytes(bytes),
            None => return Kind::Body(body),
        },
    };
    // The length that counts is the one that is sent; hyper writes it.
    headers.remove(CONTENT_LENGTH);
    Kind::Direct(Some(direct))
}

/// All bytes of a body, if they are all here: then they are its first frame.
fn whole(body: &mut Body) -> Option<Bytes> {
    body.as_whole()?;
    match http_body::Body::poll_frame(Pin::new(body), &mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        _ => None,
    }
}

impl Direct {
    /// The number of bytes still to be sent.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File(slice) => slice.len,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// So many of them are sent.
    pub(crate) fn advance(&mut self, count: usize) {
        match self {
            Self::File(slice) => {
                slice.start += count as u64;
                slice.len -= count as u64;
            }
            Self::Bytes(bytes) => bytes.advance(count),
        }
    }
}

impl http_body::Body for Outgoing {
    type Data = Chunk;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Chunk>, BodyError>>> {
        let this = &mut *self;
        match &mut this.body {
            Kind::Body(body) => {
                let frame = ready!(Pin::new(body).poll_frame(cx));
                match (&frame, &mut this.answer) {
                    (Some(Ok(frame)), Some(answer)) => answer.count(frame.data_ref().map_or(0, Bytes::len)),
                    (Some(Err(error)), _) => tracing::warn!(%error, "an answer broke off"),
                    _ => {}
                }
                Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(Chunk::Bytes))))
            }
            Kind::Direct(direct) => {
                let Some((direct, answer)) = direct.take().zip(this.answer.take()) else { return Poll::Ready(None) };
                let length = usize::try_from(direct.len())?;
                answer.hand_over(direct);
                Poll::Ready(Some(Ok(Frame::data(Chunk::Elsewhere(length)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Kind::Body(body) => body.is_end_stream(),
            Kind::Direct(direct) => direct.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Kind::Body(body) => body.size_hint(),
            Kind::Direct(direct) => SizeHint::with_exact(direct.as_ref().map_or(0, Direct::len)),
        }
    }
}

// What is elsewhere has a length and no bytes. `Buf` does not foresee that; hyper's buffer, which copies what there is
// and counts what remains, takes it as it is meant. The tests of large answers would fail if it did not.
impl Buf for Chunk {
    fn remaining(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Elsewhere(length) => *length,
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Elsewhere(_) => &[],
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(count),
            Self::Elsewhere(length) => *length -= count,
        }
    }
}

/// So that the types of an answer can be named.
pub(crate) type Answered = Result<http::Response<Outgoing>, Infallible>;
