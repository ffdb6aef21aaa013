//! Unit tests of `log::sink::tcp`.

use std::io::Read;
use std::net::{TcpListener, TcpStream};

use super::*;

const PATIENCE: Duration = Duration::from_secs(5);

/// What arrives until the connection is closed.
fn read(mut stream: TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn lines_arrive_after_their_lengths_and_a_new_server_gets_the_next_ones() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = Connection::new(listener.local_addr().unwrap().to_string());
    connection.send("a\nlänger\n".as_bytes(), b'\n', PATIENCE, Progress::NONE).unwrap();
    let (mut first, _) = listener.accept().unwrap();
    let mut text = [0; 12];
    first.read_exact(&mut text).unwrap();
    assert_eq!(std::str::from_utf8(&text).unwrap(), "1 a7 länger");
    drop(first);
    while !connection.state.lock().unwrap().socket.as_ref().is_some_and(is_closed) {
        std::thread::yield_now();
    }
    connection.send(b"next\n", b'\n', PATIENCE, Progress::NONE).unwrap();
    let (second, _) = listener.accept().unwrap();
    drop(connection);
    assert_eq!(read(second), b"4 next");
}

#[test]
fn a_server_that_does_not_read_stops_nobody_and_gets_whole_lines_later() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connection = Connection::new(listener.local_addr().unwrap().to_string());
    let line = [&[b'x'; 4095][..], b"\n"].concat();
    let lines = line.repeat(4096);
    let stopped = connection.send(&lines, b'\n', Duration::ZERO, Progress::NONE);
    let (stream, _) = listener.accept().unwrap();
    let mut written = stopped.map_or_else(|stopped| stopped.written, |()| lines.len());
    assert!(written < lines.len() && written.is_multiple_of(line.len()), "{written}");
    let reader = std::thread::spawn(|| read(stream));
    while written < lines.len() {
        match connection.send(&lines[written..], b'\n', PATIENCE, Progress::NONE) {
            Ok(()) => written = lines.len(),
            Err(stopped) => written += stopped.written,
        }
    }
    drop(connection);
    let frame = [b"4095 ", &line[..4095]].concat();
    assert!(reader.join().unwrap() == frame.repeat(4096));
}

#[test]
fn where_nobody_listens_nothing_is_written_and_nothing_waits() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let connection = Connection::new(address.to_string());
    let stopped = connection.send(b"a\n", b'\n', PATIENCE, Progress::NONE).unwrap_err();
    assert_eq!((stopped.written, stopped.error.kind()), (0, io::ErrorKind::ConnectionRefused));
    let listener = TcpListener::bind(address).unwrap();
    connection.send(b"a\n", b'\n', PATIENCE, Progress::NONE).unwrap();
    let (stream, _) = listener.accept().unwrap();
    drop(connection);
    assert_eq!(read(stream), b"1 a");
}
