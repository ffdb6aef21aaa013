//! The output of a guest: lines of the log.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::grants::Grants;
use crate::services::Current;

/// Standard output or standard error of a guest.
#[derive(Clone)]
pub(super) struct Output {
    grants: Arc<Grants>,
    stream: Stream,
    /// The unfinished line.
    line: Vec<u8>,
    request: Current,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Error,
}

/// A longer line is logged in parts.
const LINE: usize = 4 << 10;

impl Output {
    pub(super) fn new(grants: &Arc<Grants>, stream: Stream, request: &Current) -> Self {
        Self { grants: Arc::clone(grants), stream, line: Vec::new(), request: request.clone() }
    }

    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' || self.line.len() >= LINE {
                self.tell();
            }
            if *byte != b'\n' {
                self.line.push(*byte);
            }
        }
    }

    fn tell(&mut self) {
        let line = String::from_utf8_lossy(&self.line);
        let (severity, line) = marked(line.trim_end());
        if !line.trim().is_empty() && self.request.may_tell() {
            self.request.heard(line);
            let (app, request) = (&self.grants.name, self.request.get().map(tracing::field::display));
            match (severity, self.stream) {
                (Some(b'0'..=b'3'), _) => tracing::error!(target: "skep::guest", app, request, "{line}"),
                (Some(b'5' | b'6'), _) | (None, Stream::Out) => {
                    tracing::info!(target: "skep::guest", app, request, "{line}");
                }
                (Some(b'7'), _) => tracing::debug!(target: "skep::guest", app, request, "{line}"),
                (Some(_), _) | (None, Stream::Error) => tracing::warn!(target: "skep::guest", app, request, "{line}"),
            }
        }
        self.line.clear();
    }
}

/// A line that begins with a severity of syslog: `<3>text`.
fn marked(line: &str) -> (Option<u8>, &str) {
    match line.as_bytes() {
        [b'<', severity @ b'0'..=b'7', b'>', ..] => (Some(*severity), &line[3..]),
        _ => (None, line),
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.tell();
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(LINE)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_say_how_severe_it_is() {
        assert_eq!(marked("<3>it broke"), (Some(b'3'), "it broke"));
        assert_eq!(marked("<9>odd"), (None, "<9>odd"));
        assert_eq!(marked("plain"), (None, "plain"));
    }
}
