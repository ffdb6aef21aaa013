//! The body of an answer, on its way out.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use skep::body::{Body, BodyError, FileSlice};

use super::answer::Answer;

/// The body of an answer. Its end, or the end of its connection, ends the [`Answer`].
pub(crate) struct Outgoing {
    body: Kind,
    answer: Answer,
}

enum Kind {
    Body(Body),
    /// The kernel will send it. Taken once the wire knows of it.
    File(Option<FileSlice>),
}

/// A part of a body: bytes, or a marker that stands for so many bytes of the file the wire was told of.
#[derive(Debug)]
pub(crate) enum Chunk {
    Bytes(Bytes),
    File(u64),
}

/// Memory that is never read or written: a slice of it stands for the bytes of a file. It is large so that one system
/// call may send much; being never touched, it takes no room.
fn marker() -> &'static [u8] {
    MARKER.get_or_init(|| Box::leak(vec![0; 4 << 20].into_boxed_slice()))
}

static MARKER: OnceLock<&'static [u8]> = OnceLock::new();

/// True if these bytes stand for bytes of a file.
pub(crate) fn is_marker(slice: &[u8]) -> bool {
    !slice.is_empty() && MARKER.get().is_some_and(|marker| marker.as_ptr_range().contains(&slice.as_ptr()))
}

impl Outgoing {
    pub(crate) fn new(body: Body, answer: Answer) -> Self {
        let body = if answer.connection().wire().takes_files() {
            body.into_file().map_or_else(Kind::Body, |file| Kind::File(Some(file)))
        } else {
            Kind::Body(body)
        };
        Self { body, answer }
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
                if let Some(Err(error)) = &frame {
                    tracing::warn!(%error, "an answer broke off");
                }
                Poll::Ready(frame.map(|frame| frame.map(|frame| this.answer.count(frame.map_data(Chunk::Bytes)))))
            }
            Kind::File(file) => Poll::Ready(file.take().map(|file| {
                let chunk = Chunk::File(file.len);
                this.answer.connection().wire().announce(file);
                Ok(this.answer.count(Frame::data(chunk)))
            })),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            Kind::Body(body) => body.is_end_stream(),
            Kind::File(file) => file.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Kind::Body(body) => body.size_hint(),
            Kind::File(file) => SizeHint::with_exact(file.as_ref().map_or(0, |file| file.len)),
        }
    }
}

impl Buf for Chunk {
    fn remaining(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File(left) => usize::try_from(*left).unwrap_or(usize::MAX),
        }
    }

    fn chunk(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::File(_) => &marker()[..self.remaining().min(marker().len())],
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Self::Bytes(bytes) => bytes.advance(count),
            Self::File(left) => *left -= count as u64,
        }
    }
}

/// So that the types of an answer can be named.
pub(crate) type Answered = Result<http::Response<Outgoing>, Infallible>;
