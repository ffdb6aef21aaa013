//! One connection: counts requests, writes answers.
//!
//! It reads nothing while an answer waits to be written, so what it holds is bounded by one read.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// As long as hyper's answer, so that both move the same bytes.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\
    date: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nHello, world!";

/// Read at once, in bytes.
const CHUNK: usize = 8 << 10;

/// A client's connection.
pub(crate) struct Connection {
    stream: TcpStream,
    blank: BlankLines,
    unwritten: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, blank: BlankLines::default(), unwritten: Vec::new() }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Whether the client must read before we do.
    pub(crate) fn waits_to_write(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Writes what waits, or else reads once and answers. An error means: close.
    pub(crate) fn step(&mut self) -> io::Result<()> {
        if !self.waits_to_write() {
            self.read()?;
        }
        self.write()
    }

    fn read(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                for _ in 0..self.blank.count(&chunk[..length]) {
                    self.unwritten.extend_from_slice(ANSWER);
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        match self.stream.write(&self.unwritten) {
            Ok(length) => {
                self.unwritten.drain(..length);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Counts the blank lines that end requests, also when one is cut by the end of a read.
#[derive(Default)]
struct BlankLines {
    /// How many bytes of CR LF CR LF the last read ended with.
    matched: u8,
}

impl BlankLines {
    fn count(&mut self, bytes: &[u8]) -> usize {
        bytes.iter().filter(|&&byte| self.ends_with(byte)).count()
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        let ends = self.matched == 3 && byte == b'\n';
        self.matched = match (byte, self.matched) {
            (b'\r', 2) => 3,
            (b'\r', _) => 1,
            (b'\n', 1) => 2,
            _ => 0,
        };
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::BlankLines;

    #[test]
    fn every_request_is_counted_once_wherever_the_reads_cut_it() {
        let two = b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        for cut in 0..two.len() {
            let mut blank = BlankLines::default();
            assert_eq!(blank.count(&two[..cut]) + blank.count(&two[cut..]), 2, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_end_alone_is_no_blank_line() {
        assert_eq!(BlankLines::default().count(b"a\r\nb\r\n\n\r\r\n"), 0);
    }
}
