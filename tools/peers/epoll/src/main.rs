//! Hello from epoll: the floor under every server, because it does not do a server's work.
//!
//! It counts blank lines and writes one fixed answer for each. It parses nothing, refuses nothing, limits nothing and
//! knows no date; a request with a body would confuse it. Pipelined requests get their answers in one write.
//!
//! Start reading at [`serve`]. Run: `peer-epoll PORT`. It ends on SIGTERM, by the signal's default.

mod connection;

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use rustix::event::epoll::{self, EventData, EventFlags};

use connection::Connection;

/// Events taken from the kernel at once.
const BATCH: usize = 256;

fn main() -> io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("usage: peer-epoll PORT");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    serve(&listener)
}

fn serve(listener: &TcpListener) -> io::Result<()> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    watch(&epoll, listener, EventFlags::IN)?;
    let mut connections = Connections::default();
    let mut events = [MaybeUninit::<epoll::Event>::uninit(); BATCH];
    loop {
        let (ready, _) = epoll::wait(&epoll, &mut events, None)?;
        for event in ready {
            let fd = RawFd::try_from(event.data.u64()).expect("we registered a descriptor");
            if fd == listener.as_raw_fd() {
                accept(&epoll, listener, &mut connections)?;
            } else {
                step(&epoll, fd, &mut connections)?;
            }
        }
    }
}

/// Takes every connection that waits.
fn accept(epoll: &OwnedFd, listener: &TcpListener, connections: &mut Connections) -> io::Result<()> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                watch(epoll, &stream, EventFlags::IN)?;
                connections.insert(Connection::new(stream));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Lets one connection read or write; closes it when its client is gone.
fn step(epoll: &OwnedFd, fd: RawFd, connections: &mut Connections) -> io::Result<()> {
    let Some(connection) = connections.get(fd) else { return Ok(()) };
    let waited = connection.waits_to_write();
    if connection.step().is_err() {
        connections.remove(fd);
        return Ok(());
    }
    let waits = connection.waits_to_write();
    if waits != waited {
        let interest = if waits { EventFlags::OUT } else { EventFlags::IN };
        epoll::modify(epoll, connection.stream(), data(fd), interest)?;
    }
    Ok(())
}

fn watch(epoll: &OwnedFd, source: &(impl AsFd + AsRawFd), interest: EventFlags) -> io::Result<()> {
    Ok(epoll::add(epoll, source, data(source.as_raw_fd()), interest)?)
}

fn data(fd: RawFd) -> EventData {
    EventData::new_u64(u64::try_from(fd).expect("an open descriptor is not negative"))
}

/// The open connections, each at the place its descriptor names.
#[derive(Default)]
struct Connections(Vec<Option<Connection>>);

impl Connections {
    fn insert(&mut self, connection: Connection) {
        let place = place(connection.stream().as_raw_fd());
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place] = Some(connection);
    }

    fn get(&mut self, fd: RawFd) -> Option<&mut Connection> {
        self.0.get_mut(place(fd))?.as_mut()
    }

    fn remove(&mut self, fd: RawFd) {
        self.0[place(fd)] = None;
    }
}

fn place(fd: RawFd) -> usize {
    usize::try_from(fd).expect("an open descriptor is not negative")
}
