//! Clients that send more than the server can do, on connections that it may work on all the time.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::Client;

/// Eight with pipelined requests, one with messages, one with chunks.
pub(super) const CLIENTS: u8 = 10;

/// A page that takes the processor for a millisecond.
const BUSY: &str = "GET /busy/1 HTTP/1.1\r\nHost: x\r\n\r\n";

const UPGRADE: &str = "GET /messages HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A text of one byte, masked by zeros.
const MESSAGE: [u8; 7] = [0x81, 0x81, 0, 0, 0, 0, b'x'];

const FORM: &str = "POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ntext=\r\n";

/// Sends as much as the server takes, without an end, and reads as much as it sends: most clients requests that take a
/// millisecond each, one the messages of a WebSocket, one forms in chunks of a byte.
pub(super) fn pipelined(client: &mut Client) -> io::Result<()> {
    const MANY: usize = 10_000;
    let (begin, bytes) = match client.number {
        0..8 => ("", BUSY.repeat(MANY).into_bytes()),
        8 => (UPGRADE, MESSAGE.repeat(MANY)),
        _ => ("", [FORM, &"1\r\na\r\n".repeat(MANY - 1), "0\r\n\r\n"].concat().into_bytes()),
    };
    let mut stream = match client.streams.pop() {
        Some(stream) => stream,
        None => {
            let mut stream = client.connect()?;
            stream.write_all(begin.as_bytes())?;
            stream.set_nonblocking(true)?;
            client.sent = 0;
            stream
        }
    };
    let before = client.sent;
    while client.sent - before < bytes.len() {
        forget(&mut stream)?;
        match stream.write(&bytes[client.sent % bytes.len()..]) {
            Ok(count) => client.sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    let each = bytes.len() / MANY;
    client.count((client.sent / each - before / each) as u64);
    client.streams.push(stream);
    Ok(())
}

/// Reads what has arrived.
fn forget(stream: &mut TcpStream) -> io::Result<()> {
    let mut bytes = [0; 16 << 10];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
