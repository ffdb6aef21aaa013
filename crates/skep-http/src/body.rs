//! What follows the header block, in either direction.

pub mod drain;
pub(crate) mod own_thread;
pub mod pages;
mod rows;
pub mod watched;

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::TryStream;
use http::StatusCode;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;

use crate::upgrade::Upgrade;
use own_thread::OwnThread;

/// Why a body broke off.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

type BoxedBody = Pin<Box<dyn http_body::Body<Data = Bytes, Error = BodyError> + Send>>;

/// The body of a request or of a response.
///
/// Whole bodies cost no allocation beyond their bytes; a [`FileSlice`] is passed on as such, so that a server can
/// send it without copying; everything else is a stream.
#[derive(Default)]
pub struct Body {
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    #[default]
    Empty,
    Whole(Bytes),
    File(FileSlice),
    /// And how many bytes it keeps in memory.
    Stream(BoxedBody, usize),
    /// No bytes: the connection becomes a byte stream.
    Upgrade(Upgrade),
}

/// A part of an open file: `len` bytes from `start`.
#[derive(Clone, Debug)]
pub struct FileSlice {
    /// The open file. Its own position is never used or moved.
    pub file: Arc<std::fs::File>,
    /// Offset of the first byte.
    pub start: u64,
    /// Number of bytes.
    pub len: u64,
}

/// How many bytes of a file are read at once when a body is read as a stream.
const FILE_CHUNK: u64 = 64 << 10;

impl Body {
    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    /// A part of an open file.
    #[must_use]
    pub fn file(slice: FileSlice) -> Self {
        if slice.len == 0 { Self::empty() } else { Self { kind: Kind::File(slice) } }
    }

    /// Any other body, read as it is sent. What owns something of its thread is a [`from_stream`](Self::from_stream).
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        Self { kind: Kind::Stream(Box::pin(body.map_err(Into::into)), 0) }
    }

    /// A stream that keeps this many bytes in memory while it is sent.
    #[cfg(feature = "compression")]
    pub(crate) fn stream_holding<B>(body: B, held: usize) -> Self
    where
        B: http_body::Body<Data = Bytes, Error = BodyError> + Send + 'static,
    {
        Self { kind: Kind::Stream(Box::pin(body), held) }
    }

    /// What is to be done with the byte stream that the connection becomes; the body if it becomes none. For a server.
    pub fn into_upgrade(self) -> Result<Upgrade, Self> {
        match self.kind {
            Kind::Upgrade(upgrade) => Ok(upgrade),
            kind => Err(Self { kind }),
        }
    }

    /// True if the connection becomes a byte stream after this response.
    #[must_use]
    pub fn is_upgrade(&self) -> bool {
        matches!(self.kind, Kind::Upgrade(_))
    }

    /// A body of the pieces of any stream (`futures`, `tokio-stream`, `async-stream`), each sent as soon as it is
    /// there. An error breaks the body off, which the client notices.
    ///
    /// It is read on the thread that made it, and may own what lives there: a clone of `Cx::db`, an
    /// `Rc`. A stream that was made on another thread than its request's breaks off.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use futures_util::stream;
    /// use skep::Body;
    ///
    /// let body = Body::from_stream(stream::iter(["one, ", "two"].map(Ok::<_, Infallible>)));
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// assert_eq!(body.collect(100).await.unwrap(), "one, two");
    /// # });
    /// ```
    pub fn from_stream<S>(stream: S) -> Self
    where
        S: TryStream + 'static,
        S::Ok: Into<Bytes>,
        S::Error: Into<BodyError>,
    {
        Self { kind: Kind::Stream(Box::pin(Pieces(OwnThread::new(Box::pin(stream)))), 0) }
    }

    /// The length in bytes, where it is known before sending.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        match &self.kind {
            Kind::Empty | Kind::Upgrade(_) => Some(0),
            Kind::Whole(bytes) => Some(bytes.len() as u64),
            Kind::File(slice) => Some(slice.len),
            Kind::Stream(body, _) => body.size_hint().exact(),
        }
    }

    /// True if it is known that no byte follows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The file behind this body, for a server that has a faster way to send it; the body if it has no file.
    pub fn into_file(self) -> Result<FileSlice, Self> {
        match self.kind {
            Kind::File(slice) => Ok(slice),
            kind => Err(Self { kind }),
        }
    }

    /// The bytes, where they are all here already.
    #[must_use]
    pub fn as_whole(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Empty => Some(&[]),
            Kind::Whole(bytes) => Some(bytes),
            Kind::File(_) | Kind::Stream(..) | Kind::Upgrade(_) => None,
        }
    }

    /// The bytes, where they are all here already; the body if they are not.
    pub fn into_whole(self) -> Result<Bytes, Self> {
        match self.kind {
            Kind::Empty => Ok(Bytes::new()),
            Kind::Whole(bytes) => Ok(bytes),
            kind => Err(Self { kind }),
        }
    }

    /// The bytes that this body alone keeps in memory: none of a file, a stream, text of the program, or a page that a
    /// cache holds, too.
    ///
    /// ```
    /// use skep::Body;
    ///
    /// assert_eq!((Body::from("static").held(), Body::from(String::from("own")).held()), (0, 3));
    /// ```
    #[must_use]
    pub fn held(&self) -> usize {
        match &self.kind {
            Kind::Whole(bytes) if bytes.is_unique() => bytes.len(),
            Kind::Stream(_, held) => *held,
            _ => 0,
        }
    }

    /// Reads all of it. More than `limit` bytes is an error of kind [`TooLarge`].
    pub async fn collect(self, limit: u64) -> Result<Bytes, BodyError> {
        self.collect_if(limit, |_| Ok(())).await
    }

    /// The same, as long as `admit` admits the memory for it, of which it is given the bytes.
    pub(crate) async fn collect_if(
        mut self,
        limit: u64,
        mut admit: impl FnMut(u64) -> Result<(), BodyError>,
    ) -> Result<Bytes, BodyError> {
        if let Kind::Whole(bytes) = self.kind {
            if bytes.len() as u64 > limit {
                return Err(TooLarge { limit }.into());
            }
            admit(bytes.len() as u64)?;
            return Ok(bytes);
        }
        let most = usize::try_from(self.len().unwrap_or(limit).min(limit)).unwrap_or(usize::MAX);
        let mut all = Vec::new();
        while let Some(data) = next_bytes(&mut self).await? {
            let len = all.len() + data.len();
            if len as u64 > limit {
                return Err(TooLarge { limit }.into());
            }
            if len > all.capacity() {
                // As a vector grows, but what was declared is the end of it.
                let room = (2 * all.capacity()).min(most).max(len);
                admit((room - all.capacity()) as u64)?;
                all.reserve_exact(room - all.len());
            }
            all.extend_from_slice(&data);
        }
        Ok(all.into())
    }
}

extension! {
    /// What a framework does with a body.
    pub trait BodyExt for Body {
        /// What the connection becomes after this response.
        fn upgrade(upgrade: Upgrade) -> Self {
            Self { kind: Kind::Upgrade(upgrade) }
        }

        /// True if its bytes are made while it is sent.
        fn is_stream(&self) -> bool {
            matches!(self.kind, Kind::Stream(..))
        }
    }
}

/// The next bytes; `None` at the end.
pub async fn next_bytes(body: &mut Body) -> Result<Option<Bytes>, BodyError> {
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// The pieces of a stream.
struct Pieces<S>(OwnThread<Pin<Box<S>>>);

/// Why a stream is not read on another thread.
pub(crate) const ELSEWHERE: &str = "the stream was made on another thread; `Body::stream` takes what may move";

impl<S> http_body::Body for Pieces<S>
where
    S: TryStream,
    S::Ok: Into<Bytes>,
    S::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(stream) = self.0.get_mut() else { return Poll::Ready(Some(Err(ELSEWHERE.into()))) };
        loop {
            match ready!(stream.as_mut().try_poll_next(cx)) {
                Some(Ok(piece)) => {
                    let piece = piece.into();
                    // An empty chunk would be the end (RFC 9112, 7.1).
                    if !piece.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            }
        }
    }
}

/// Why a body broke off, if the server that reads it from the network knows the status of the response.
///
/// A server gives this as the error of a body's stream, for instance 408 when no byte came for too long; any other
/// error counts as "the body ended before it was complete": 400.
#[derive(Debug)]
pub struct BodyFailure(StatusCode, Cow<'static, str>);

impl BodyFailure {
    /// A failure with the status and message that the client is to see.
    #[must_use]
    pub fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(status, message.into())
    }

    /// The status that the client is to see.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0
    }
}

skep_units::error_text!(BodyFailure, |failure| failure.1);

/// A body was longer than allowed.
#[derive(Debug)]
pub struct TooLarge {
    /// What was allowed, in bytes.
    pub limit: u64,
}

skep_units::error_text!(TooLarge, |large| format_args!(
    "the body is larger than the {} bytes allowed here",
    large.limit
));

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.kind {
            Kind::Empty | Kind::Upgrade(_) => Poll::Ready(None),
            Kind::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::File(slice) => {
                if slice.len == 0 {
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(slice.read_chunk().map(Frame::data).map_err(Into::into)))
            }
            Kind::Stream(body, _) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty | Kind::Upgrade(_) => true,
            Kind::Whole(_) => false,
            Kind::File(slice) => slice.len == 0,
            Kind::Stream(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Stream(body, _) => body.size_hint(),
            _ => SizeHint::with_exact(self.len().unwrap_or(0)),
        }
    }
}

impl FileSlice {
    /// Takes the next bytes off the front. A file that became shorter is an error: its length has been promised.
    fn read_chunk(&mut self) -> std::io::Result<Bytes> {
        let wanted = usize::try_from(self.len.min(FILE_CHUNK)).expect("a chunk fits in memory");
        let mut chunk = vec![0; wanted];
        let read = read_at(&self.file, &mut chunk, self.start)?;
        if read == 0 {
            return Err(std::io::Error::new(
                std::io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was sent",
            ));
        }
        chunk.truncate(read);
        self.start += read as u64;
        self.len -= read as u64;
        Ok(chunk.into())
    }
}

#[cfg(unix)]
fn read_at(file: &std::fs::File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(mut file: &std::fs::File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::empty() } else { Self { kind: Kind::Whole(bytes) } }
    }
}

macro_rules! from_bytes {
    ($($whole:ty)*) => {$(
        impl From<$whole> for Body {
            fn from(whole: $whole) -> Self {
                Bytes::from(whole).into()
            }
        }
    )*};
}

from_bytes!(&'static str String Vec<u8>);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Empty => f.write_str("Body(empty)"),
            Kind::Whole(bytes) => write!(f, "Body({} bytes)", bytes.len()),
            Kind::File(slice) => write!(f, "Body({} bytes of a file)", slice.len),
            Kind::Stream(..) => f.write_str("Body(stream)"),
            Kind::Upgrade(_) => f.write_str("Body(upgrade)"),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/body.rs"]
mod tests;
