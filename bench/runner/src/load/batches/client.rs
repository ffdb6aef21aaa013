//! The connections of the load in batches.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::time::Timespec;

use super::template::Template;
use crate::Result;

/// Read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// How much of each read is compared: all of it where answers are small, and what costs nothing where they are large.
const COMPARED: usize = 8 << 10;

/// How long to wait for any answer: then the clock is looked at.
const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// All connections, with what they have seen so far.
pub(crate) struct Client<'a> {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    port: u16,
    batch: Batch,
    template: &'a Template,
    chunk: Vec<u8>,
    /// Microseconds from the write of a batch to its last byte.
    times: Vec<u32>,
    pub(crate) errors: u64,
}

/// What is sent in one write.
pub(crate) struct Batch {
    pub(crate) requests: Vec<u8>,
    /// Bytes that answer it.
    pub(crate) expected: usize,
}

struct Connection {
    stream: TcpStream,
    /// Bytes read of the batch under way.
    read: usize,
    sent: Instant,
}

impl<'a> Client<'a> {
    /// Opens the connections and sends a batch over each.
    pub(crate) fn connect(port: u16, connections: u16, batch: Batch, template: &'a Template) -> Result<Self> {
        let mut client = Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            connections: Vec::new(),
            port,
            batch,
            template,
            chunk: vec![0; CHUNK],
            times: Vec::with_capacity(1 << 20),
            errors: 0,
        };
        for place in 0..u64::from(connections) {
            let connection = client.open(place)?;
            client.connections.push(connection);
        }
        Ok(client)
    }

    fn open(&self, place: u64) -> Result<Connection> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_nodelay(true)?;
        stream.write_all(&self.batch.requests)?;
        stream.set_nonblocking(true)?;
        epoll::add(&self.epoll, &stream, EventData::new_u64(place), EventFlags::IN)?;
        Ok(Connection { stream, read: 0, sent: Instant::now() })
    }

    /// Waits for answers, checks them, and sends the batches that follow.
    pub(crate) fn step(&mut self) -> Result<()> {
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); 256];
        let (ready, _) = epoll::wait(&self.epoll, &mut events, Some(&WAIT))?;
        for event in ready {
            let place = event.data.u64();
            let index = usize::try_from(place)?;
            if self.answer(index).is_err() {
                self.errors += 1;
                self.connections[index] = self.open(place)?;
            }
        }
        Ok(())
    }

    /// Takes what one connection has; after the last byte of a batch, sends the next.
    fn answer(&mut self, index: usize) -> io::Result<()> {
        let connection = &mut self.connections[index];
        let length = match connection.stream.read(&mut self.chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let too_much = connection.read + length > self.batch.expected;
        if too_much || !self.template.matches(connection.read, &self.chunk[..length.min(COMPARED)]) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        connection.read += length;
        if connection.read == self.batch.expected {
            let micros = connection.sent.elapsed().as_micros();
            self.times.push(u32::try_from(micros).unwrap_or(u32::MAX));
            connection.next(&self.batch.requests)?;
        }
        Ok(())
    }

    /// Batches answered so far.
    pub(crate) fn batches(&self) -> u64 {
        self.times.len() as u64
    }

    /// The time of half the batches, and of 99 of 100, in microseconds.
    pub(crate) fn percentiles(&mut self) -> (f64, f64) {
        self.times.sort_unstable();
        let at = |share: usize| self.times.get(self.times.len() * share / 100).copied().map_or(0.0, f64::from);
        (at(50), at(99))
    }
}

impl Connection {
    /// Sends another batch. A server that has answered the last one has room for it: a short write is an error.
    fn next(&mut self, batch: &[u8]) -> io::Result<()> {
        (self.read, self.sent) = (0, Instant::now());
        let written = self.stream.write(batch)?;
        if written == batch.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}
