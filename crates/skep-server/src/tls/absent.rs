//! A program without the feature `tls`: it has no acceptor, and so no socket with TLS.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Settings;

#[derive(Clone, Debug)]
pub(crate) enum Acceptor {}

#[derive(Debug)]
pub(crate) struct Stream<S> {
    never: Infallible,
    socket: PhantomData<S>,
}

/// None; an error if there should be one.
pub(crate) fn acceptor(tls: &Settings, _http2: bool) -> Result<Option<Acceptor>, String> {
    if tls.certificate.is_some() || tls.key.is_some() || tls.self_signed {
        return Err("tls.* needs skep-server with the cargo feature `tls`".to_owned());
    }
    Ok(None)
}

pub(crate) fn plain<S>(stream: &Stream<S>) -> &S {
    match stream.never {}
}

pub(crate) fn is_http2<S>(stream: &Stream<S>) -> bool {
    match stream.never {}
}

impl Acceptor {
    pub(crate) async fn accept<S>(&self, _socket: S) -> io::Result<Stream<S>> {
        match *self {}
    }
}

impl<S> AsyncRead for Stream<S> {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }
}

impl<S> AsyncWrite for Stream<S> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        match self.never {}
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }
}
