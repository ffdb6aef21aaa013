//! HTTP/2 by frames (RFC 9113), for clients that do what no library does.

use std::io::{self, Read, Write};
use std::net::TcpStream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// A connection. Frames are gathered, and sent together: see [`Http2::send`].
#[derive(Debug)]
pub(crate) struct Http2 {
    stream: TcpStream,
    /// The next stream's number.
    next: u32,
    /// Frames that are to be sent.
    out: Vec<u8>,
    /// What has been read of the next frame.
    read: Vec<u8>,
    /// Frames of the server that other frames called forth: acknowledgements of settings and pings, and DATA.
    pub(crate) answers: u32,
    /// Streams that ended, or were reset by the server.
    pub(crate) ended: u32,
}

impl Http2 {
    /// Begins, with a window of this many bytes for each stream.
    pub(crate) fn open(stream: TcpStream, window: u32) -> io::Result<Self> {
        let out = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let mut this = Self { stream, next: 1, out, read: Vec::new(), answers: 0, ended: 0 };
        this.settings(window);
        this.send()?;
        Ok(this)
    }

    /// A request without a body, with a path of at most 126 bytes. Gives back the number of its stream.
    pub(crate) fn request(&mut self, method: Method, path: &str) -> u32 {
        self.headers(END_STREAM | END_HEADERS, method, path)
    }

    /// A request whose body goes on for ever.
    pub(crate) fn request_with_body(&mut self, path: &str) -> u32 {
        self.headers(END_HEADERS, Method::Post, path)
    }

    /// A request whose fields go on for ever.
    pub(crate) fn request_with_fields(&mut self, path: &str) -> u32 {
        self.headers(END_STREAM, Method::Get, path)
    }

    fn headers(&mut self, flags: u8, method: Method, path: &str) -> u32 {
        let stream = self.next;
        self.next += 2;
        let length = u8::try_from(path.len()).expect("the path of a drill is short");
        // :method, and :scheme http, from the static table; :authority and :path as literals (RFC 7541, appendix A).
        let head = [&[method as u8, 0x86, 0x01, 1, b'x', 0x04, length][..], path.as_bytes()].concat();
        self.frame(HEADERS, flags, stream, &head);
        stream
    }

    /// One more field, which is not the last one.
    pub(crate) fn field(&mut self, stream: u32) {
        // A literal that is not indexed: name and value of a byte (RFC 7541, 6.2.2).
        self.frame(CONTINUATION, 0, stream, &[0, 1, b'a', 1, b'b']);
    }

    /// Data of a body, and not the last.
    pub(crate) fn data(&mut self, stream: u32, data: &[u8]) {
        self.frame(DATA, 0, stream, data);
    }

    /// Cancels a request.
    pub(crate) fn reset(&mut self, stream: u32) {
        self.frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
    }

    /// Changes the window of all streams.
    pub(crate) fn settings(&mut self, window: u32) {
        // SETTINGS_INITIAL_WINDOW_SIZE.
        self.frame(SETTINGS, 0, 0, &[&[0, 4][..], &window.to_be_bytes()].concat());
    }

    pub(crate) fn ping(&mut self) {
        self.frame(PING, 0, 0, &[0; 8]);
    }

    /// Lets the server send this many bytes more, on a stream, or on the connection, which is 0.
    pub(crate) fn widen(&mut self, stream: u32, bytes: u32) {
        self.frame(WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
    }

    /// Sends the frames that were made.
    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&std::mem::take(&mut self.out))
    }

    /// Reads what has arrived, and answers pings. An error once the server has closed the connection or says that it
    /// will.
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
            if kind == DATA || matches!(kind, SETTINGS | PING) && flags & ACK != 0 {
                self.answers += 1;
            }
            match kind {
                PING if flags & ACK == 0 => self.frame(PING, ACK, 0, &payload),
                GOAWAY => return Err(io::ErrorKind::ConnectionAborted.into()),
                RST_STREAM => self.ended += 1,
                // DATA or HEADERS that are the last of their stream.
                DATA | HEADERS if flags & END_STREAM != 0 => self.ended += 1,
                _ => {}
            }
        }
        self.send()
    }

    /// The number of streams that were begun.
    pub(crate) fn begun(&self) -> u32 {
        self.next / 2
    }

    fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u16::try_from(payload.len()).expect("the frame of a drill is short").to_be_bytes();
        self.out.extend_from_slice(&[0, length[0], length[1], kind, flags]);
        self.out.extend_from_slice(&stream.to_be_bytes());
        self.out.extend_from_slice(payload);
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
