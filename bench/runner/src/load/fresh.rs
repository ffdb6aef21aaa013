//! Load over new connections: each is for one request, and the next one is opened when its answer is there and it is closed.
//!
//! The server closes (`Connection: close`), so that what a connection costs at its end is the server's, too. An answer is good if its
//! status is 200 and it is as long as the first one was.
//!
//! Start reading at [`run`].

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::time::Timespec;

use super::Loaded;
use crate::Result;
use crate::http;

/// Failed connections after which there is nothing to measure.
const PATIENCE: u64 = 1000;

/// How long to wait for anything: then the clock is looked at.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// How an answer begins that counts.
const GOOD: &[u8] = b"HTTP/1.1 200";

/// So many connections at a time, for this long.
pub(crate) fn run(port: u16, path: &str, connections: u16, time: Duration) -> Result<Loaded> {
    let first = http::get_and_close(port, path)?;
    if first.status != 200 {
        return Err(format!("the answer on port {port} is {}", first.status).into());
    }
    let request = http::closing_request(port, path).into_bytes();
    let expected = first.length;
    let mut client = Client::new(port, request, expected)?;
    for place in 0..u64::from(connections) {
        let connection = client.open(place)?;
        client.connections.push(connection);
    }
    let begun = Instant::now();
    while begun.elapsed() < time {
        client.step()?;
        if client.errors > PATIENCE {
            return Err(
                format!("the answers on port {port} are not all {expected} bytes, or its connections break").into()
            );
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let requests = client.times.len() as u64;
    let (p50, p99) = client.percentiles();
    Ok(Loaded { requests, per_second: crate::proc::float(requests) / seconds, errors: client.errors, p50, p99 })
}

struct Client {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    address: SocketAddr,
    request: Vec<u8>,
    /// Bytes of an answer, head and body.
    expected: usize,
    chunk: Vec<u8>,
    /// Microseconds from the first packet to the end of the connection.
    times: Vec<u32>,
    errors: u64,
}

struct Connection {
    stream: TcpStream,
    begun: Instant,
    asked: bool,
    read: usize,
}

impl Client {
    fn new(port: u16, request: Vec<u8>, expected: usize) -> Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            connections: Vec::new(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            request,
            expected,
            chunk: vec![0; 64 << 10],
            times: Vec::with_capacity(1 << 20),
            errors: 0,
        })
    }

    /// Begins to connect. A full queue must not hold up the others.
    fn open(&self, place: u64) -> io::Result<Connection> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        let begun = Instant::now();
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        epoll::add(&self.epoll, &socket, EventData::new_u64(place), EventFlags::OUT | EventFlags::RDHUP)?;
        Ok(Connection { stream: socket.into(), begun, asked: false, read: 0 })
    }

    fn step(&mut self) -> Result<()> {
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); 256];
        let (ready, _) = epoll::wait(&self.epoll, &mut events, Some(&WAIT))?;
        for event in ready {
            let place = event.data.u64();
            let index = usize::try_from(place)?;
            let over = self.go_on(index, place).unwrap_or_else(|_| {
                self.errors += 1;
                true
            });
            if over {
                self.connections[index] = self.open(place)?;
            }
        }
        Ok(())
    }

    /// Asks, or takes what is there. True when the connection is over, and was good.
    fn go_on(&mut self, index: usize, place: u64) -> io::Result<bool> {
        let connection = &mut self.connections[index];
        if !connection.asked {
            // A request this short has room in any new connection.
            connection.stream.write_all(&self.request)?;
            connection.asked = true;
            epoll::modify(&self.epoll, &connection.stream, EventData::new_u64(place), EventFlags::IN)?;
            return Ok(false);
        }
        loop {
            let length = match connection.stream.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            };
            if connection.read == 0 && !self.chunk[..length].starts_with(GOOD) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            connection.read += length;
        }
        if connection.read != self.expected {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.times.push(u32::try_from(connection.begun.elapsed().as_micros()).unwrap_or(u32::MAX));
        Ok(true)
    }

    /// The time of half the requests, and of 99 of 100, in microseconds.
    fn percentiles(&mut self) -> (f64, f64) {
        self.times.sort_unstable();
        let at = |share: usize| self.times.get(self.times.len() * share / 100).copied().map_or(0.0, f64::from);
        (at(50), at(99))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server that gives each connection the next of these answers, and closes.
    fn serve(answers: &'static [&'static str]) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for (stream, answer) in listener.incoming().zip(answers.iter().cycle()) {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        port
    }

    const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    #[test]
    fn each_request_has_a_connection_of_its_own() {
        let loaded = run(serve(&[GOOD]), "/", 3, Duration::from_millis(100)).unwrap();
        assert!(loaded.requests > 3 && loaded.errors == 0, "{loaded:?}");
    }

    #[test]
    fn an_answer_that_is_short_or_bad_is_an_error_and_no_request() {
        let port = serve(&[
            GOOD,
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no",
            GOOD,
            "HTTP/1.1 503 No\r\ncontent-length: 2\r\n\r\nok",
        ]);
        let error = run(port, "/", 1, Duration::from_secs(5)).unwrap_err().to_string();
        assert!(error.contains("not all 40 bytes"), "{error}");
    }
}
