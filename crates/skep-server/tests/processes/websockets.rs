//! WebSockets and the processes that have them, with a client that is not ours (tungstenite).

use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep::prelude::*;
use skep::websocket::WebSocket;
use tungstenite::Message;

use super::Test;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("a_websocket_under_prefork_has_a_process_of_its_own", a_websocket_under_prefork_has_a_process_of_its_own),
    ("a_websocket_learns_that_the_server_stops", a_websocket_learns_that_the_server_stops),
    ("a_websocket_of_a_drained_worker_finds_the_next_one", a_websocket_of_a_drained_worker_finds_the_next_one),
];

pub(crate) const SERVICES: skep::Services = skep::services![Echo];

/// Sends its process id, and then what it receives.
#[derive(Service)]
#[service(GET "/websocket/echo")]
pub(crate) struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.websocket(async |socket: &mut WebSocket| {
            socket.send(std::process::id().to_string()).await?;
            while let Some(message) = socket.receive().await? {
                socket.send(message).await?;
            }
            Ok(())
        })
    }
}

struct Client {
    socket: tungstenite::WebSocket<TcpStream>,
    process: String,
}

impl Client {
    fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(&*server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let url = format!("ws://{}/websocket/echo", server.address);
        let mut socket = tungstenite::client(url, stream).unwrap().0;
        let process = socket.read().unwrap().into_text().unwrap().to_string();
        Self { socket, process }
    }

    fn echo(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
        assert_eq!(self.socket.read().unwrap(), Message::text(text));
    }

    /// Reads until the server has closed the connection in order, and returns its code.
    fn closing_code(&mut self) -> u16 {
        let Message::Close(Some(frame)) = self.socket.read().unwrap() else { panic!("no close frame") };
        assert!(matches!(self.socket.read(), Err(tungstenite::Error::ConnectionClosed)));
        frame.code.into()
    }
}

fn a_websocket_under_prefork_has_a_process_of_its_own() {
    let server = Server::start(&["--mpm", "prefork", "--workers", "2"]);
    let mut clients: Vec<_> = (0..3).map(|_| Client::connect(&server)).collect();
    let mut processes: Vec<_> = clients.iter().map(|client| client.process.clone()).collect();
    processes.sort();
    processes.dedup();
    assert_eq!(processes.len(), 3, "each process handles one request at a time");
    assert_eq!(server.get("/").unwrap(), "Hello, world!", "there are more of them");
    for client in &mut clients {
        client.echo("still there");
    }
}

fn a_websocket_learns_that_the_server_stops() {
    let models = [
        &["--workers", "2"][..],
        &["--mpm", "prefork", "--workers", "1"],
        &["--mpm", "prefork", "--workers", "1", "--set", "concurrency=10"],
        &["--mpm", "prefork", "--workers", "1", "--set", "requests_per_worker=1"],
    ];
    for model in models {
        let mut server = Server::start(model);
        let mut clients: Vec<_> = (0..2).map(|_| Client::connect(&server)).collect();
        for client in &mut clients {
            client.echo("hello");
        }
        let begun = Instant::now();
        server.signal(Signal::TERM);
        for client in &mut clients {
            assert_eq!(client.closing_code(), 1001, "{model:?}");
        }
        assert!(server.wait().success(), "{model:?}: {}", server.errors());
        assert!(begun.elapsed() < Duration::from_secs(8), "{model:?}: not only after the grace period");
    }
}

fn a_websocket_of_a_drained_worker_finds_the_next_one() {
    for model in [&["--workers", "1"][..], &["--mpm", "prefork", "--workers", "1"]] {
        let server = Server::start(model);
        let mut client = Client::connect(&server);
        client.echo("before");
        let (good, text) = server.control("drain 1");
        assert!(good, "{model:?}: {text}");
        assert_eq!(client.closing_code(), 1001, "{model:?}");
        let mut next = Client::connect(&server);
        next.echo("after");
        assert_ne!(client.process, next.process, "{model:?}");
    }
}
