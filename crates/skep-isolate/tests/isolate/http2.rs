//! A client of HTTP/2 in clear: one request for each connection.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use hyper::client::conn::http2::{self, SendRequest};
use hyper::{HeaderMap, Method, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::server::Server;

/// A body in pieces, of which the client says the length or not.
pub(crate) struct Pieces {
    pieces: Vec<Bytes>,
    is_declared: bool,
}

impl Pieces {
    /// This number of bytes.
    pub(crate) fn of(bytes: usize, is_declared: bool) -> Self {
        let whole = vec![b'x'; bytes];
        Self { pieces: whole.chunks(64 << 10).rev().map(Bytes::copy_from_slice).collect(), is_declared }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.pieces.pop().map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.pieces.iter().map(|piece| piece.len() as u64).sum();
        if self.is_declared { SizeHint::with_exact(left) } else { SizeHint::new() }
    }
}

/// What came back: the status, the fields and the body; an error if the stream was reset.
pub(crate) type Answer = Result<(u16, HeaderMap, Bytes), String>;

pub(crate) fn ask(server: &Server, method: Method, target: &str, body: Pieces) -> Answer {
    let request = Request::builder().method(method).uri(format!("http://localhost{target}")).body(body).unwrap();
    block_on(async {
        let mut sender = handshake(TcpStream::connect(&server.address).await.unwrap()).await;
        let response = sender.send_request(request).await.map_err(|error| format!("{error:?}"))?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| format!("{error:?}"))?.to_bytes();
        Ok((parts.status.as_u16(), parts.headers, body))
    })
}

/// Runs a client on a thread of its own.
pub(crate) fn block_on<T>(client: impl Future<Output = T>) -> T {
    let options = tokio::runtime::LocalOptions::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(options).unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_mins(1), client).await.unwrap() })
}

pub(crate) async fn handshake<B>(stream: TcpStream) -> SendRequest<B>
where
    B: Body<Data = Bytes, Error = Infallible> + Unpin + 'static,
{
    let (sender, connection) = http2::handshake(Local, TokioIo::new(stream)).await.unwrap();
    tokio::task::spawn_local(connection);
    sender
}

#[derive(Clone)]
struct Local;

impl<F: Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}
