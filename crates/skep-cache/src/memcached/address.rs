//! Addresses of servers, and the two kinds of sockets behind them.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::{TcpStream, UnixStream, tcp, unix};

const PORT: u16 = 11211;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// `name:port`, resolved for each connection, so that a server that moved is found.
    Tcp(String),
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        if text.starts_with('/') {
            return Ok(Self::Unix(text.into()));
        }
        let text = text.strip_prefix("tcp://").unwrap_or(text);
        let bare = text.starts_with('[') && text.ends_with(']') || !text.contains(':');
        let whole = if bare { format!("{text}:{PORT}") } else { text.to_owned() };
        match whole.rsplit_once(':') {
            Some((host, port)) if is_host(host) && port.parse::<u16>().is_ok_and(|port| port > 0) => {
                Ok(Self::Tcp(whole))
            }
            _ => Err(format!(
                "invalid server address \"{text}\": expected \"cache1:{PORT}\", \"[::1]:{PORT}\" or \
                 \"/run/memcached.sock\""
            )),
        }
    }
}

fn is_host(host: &str) -> bool {
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let name = inside.unwrap_or(host);
    !name.is_empty() && !name.contains(['/', ' ', '@']) && inside.is_some() == name.contains(':')
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Address {
    pub(super) async fn connect(&self) -> io::Result<(Reader, Writer)> {
        match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address.as_str()).await?;
                // Requests are written whole.
                stream.set_nodelay(true)?;
                let (reader, writer) = stream.into_split();
                Ok((Reader::Tcp(reader), Writer::Tcp(writer)))
            }
            Self::Unix(path) => {
                let (reader, writer) = UnixStream::connect(path).await?.into_split();
                Ok((Reader::Unix(reader), Writer::Unix(writer)))
            }
        }
    }
}

pub(super) enum Reader {
    Tcp(tcp::OwnedReadHalf),
    Unix(unix::OwnedReadHalf),
}

impl Reader {
    /// Reads as tokio does: after a short read it waits for readiness, which saves a system call for each reply.
    pub(super) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(half) => Pin::new(half).poll_read(cx, buffer),
            Self::Unix(half) => Pin::new(half).poll_read(cx, buffer),
        }
    }
}

/// The sending half. Writing needs no exclusive access, so that any caller can write.
pub(super) enum Writer {
    Tcp(tcp::OwnedWriteHalf),
    Unix(unix::OwnedWriteHalf),
}

impl Writer {
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(half) => half.try_write(bytes),
            Self::Unix(half) => half.try_write(bytes),
        }
    }

    pub(super) async fn writable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(half) => half.writable().await,
            Self::Unix(half) => half.writable().await,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/memcached/address.rs"]
mod tests;
