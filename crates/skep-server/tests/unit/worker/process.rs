//! Unit tests of `worker::process`.

use std::net::{TcpListener, TcpStream};

use super::*;

/// The system has woken this process for the connection and no other one: to leave it would be to let its client wait.
#[test]
fn a_process_that_must_retire_takes_the_connection_that_has_woken_it() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let (signals, told) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
    let client = TcpStream::connect(socket.local_addr().unwrap()).unwrap();
    rustix::io::write(&told, &[u8::try_from(libc::SIGUSR1).unwrap()]).unwrap();
    let poller = Poller::new(vec![Listener { socket: socket.into(), is_tcp: true }], signals, &|| {}).unwrap();
    let accepted = poller.wait().unwrap().unwrap();
    assert_eq!(accepted.address, Some(client.local_addr().unwrap()));
    assert!(poller.wait().unwrap().is_none());
    assert_eq!(poller.state(), WorkerState::Retiring);
}
