//! HTTP/2 by frames (RFC 9113), for clients that do what no library does.

use std::io::{self, Read, Write};
use std::net::TcpStream;

const DATA_ENDS: u8 = 1;
const HEADERS: u8 = 1;
/// `END_STREAM` and `END_HEADERS`.
const WHOLE: u8 = 5;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;

/// A connection.
#[derive(Debug)]
pub(crate) struct Http2 {
    stream: TcpStream,
    /// The next stream's number.
    next: u32,
    /// What has been read of the next frame.
    read: Vec<u8>,
    /// Streams that ended, or were reset by the server.
    pub(crate) ended: u32,
}

impl Http2 {
    /// Begins, with a window of this many bytes for each stream.
    pub(crate) fn open(stream: TcpStream, window: u32) -> io::Result<Self> {
        let mut this = Self { stream, next: 1, read: Vec::new(), ended: 0 };
        this.stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")?;
        // SETTINGS_INITIAL_WINDOW_SIZE.
        this.frame(SETTINGS, 0, 0, &[&[0, 4][..], &window.to_be_bytes()].concat())?;
        Ok(this)
    }

    /// Sends a request without a body, with a path of at most 126 bytes, and gives back the number of its stream.
    pub(crate) fn request(&mut self, method: Method, path: &str) -> io::Result<u32> {
        let stream = self.next;
        self.next += 2;
        let length = u8::try_from(path.len()).map_err(io::Error::other)?;
        // :method, and :scheme http, from the static table; :authority and :path as literals (RFC 7541, appendix A).
        let head = [&[method as u8, 0x86, 0x01, 1, b'x', 0x04, length][..], path.as_bytes()].concat();
        self.frame(HEADERS, WHOLE, stream, &head)?;
        Ok(stream)
    }

    /// Cancels a request.
    pub(crate) fn reset(&mut self, stream: u32) -> io::Result<()> {
        self.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])
    }

    /// Reads what has arrived, and answers pings. An error once the server has closed the connection or says that it will.
    pub(crate) fn read(&mut self) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.read.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.stream.set_nonblocking(false)?;
        while let Some((kind, flags, payload)) = take_frame(&mut self.read) {
            match kind {
                PING if flags & ACK == 0 => self.frame(PING, ACK, 0, &payload)?,
                GOAWAY => return Err(io::ErrorKind::ConnectionAborted.into()),
                RST_STREAM => self.ended += 1,
                // DATA or HEADERS that are the last of their stream.
                0 | HEADERS if flags & DATA_ENDS != 0 => self.ended += 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of streams that were begun.
    pub(crate) fn begun(&self) -> u32 {
        self.next / 2
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let length = u16::try_from(payload.len()).map_err(io::Error::other)?.to_be_bytes();
        let head = [&[0, length[0], length[1], kind, flags][..], &stream.to_be_bytes()].concat();
        self.stream.write_all(&[&head[..], payload].concat())
    }
}

/// A request's method, by its index in the static table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    Get = 0x82,
    Post = 0x83,
}

/// Kind, flags and payload of the first frame, if all of it is there.
fn take_frame(bytes: &mut Vec<u8>) -> Option<(u8, u8, Vec<u8>)> {
    let &[a, b, c, kind, flags, ..] = bytes.as_slice() else { return None };
    let end = 9 + (usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c));
    let payload = bytes.get(9..end)?.to_vec();
    bytes.drain(..end);
    Some((kind, flags, payload))
}

#[cfg(test)]
mod tests {
    use super::take_frame;

    #[test]
    fn a_frame_is_taken_when_all_of_it_is_there() {
        let mut bytes = vec![0, 0, 2, 6, 1, 0, 0, 0, 0, 7];
        assert_eq!(take_frame(&mut bytes), None);
        bytes.extend([8, 0]);
        assert_eq!(take_frame(&mut bytes), Some((6, 1, vec![7, 8])));
        assert_eq!(bytes, [0]);
    }
}
