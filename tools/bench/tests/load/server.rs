//! A server of a few lines, with a thread for each connection, which knows what it did. It shares nothing with the
//! client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The plainest answer.
pub(crate) const HELLO: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\n\r\nHello, world!";

/// A server that runs until the test's process ends.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// How long each answer took from the moment its request was read.
    #[allow(dead_code, reason = "only one of the test programs asks")]
    pub(crate) took: Arc<Mutex<Vec<Duration>>>,
}

impl Server {
    /// Waits before each answer: how long, `delay` says, of the number of the request.
    pub(crate) fn delayed(delay: impl Fn(u64) -> Duration + Send + Sync + 'static) -> Self {
        let counter = AtomicU64::new(0);
        let took = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&took);
        let address = serve(move |stream: &mut TcpStream| {
            while read_request(stream) {
                let begun = Instant::now();
                let delay = delay(counter.fetch_add(1, Ordering::Relaxed));
                thread::sleep(delay);
                notes.lock().unwrap().push(begun.elapsed());
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
        });
        Self { address, took }
    }

    /// The longest that an answer took.
    #[allow(dead_code, reason = "only one of the test programs asks")]
    pub(crate) fn longest(&self) -> Duration {
        self.took.lock().unwrap().iter().max().copied().unwrap_or_default()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    #[allow(dead_code, reason = "only one of the test programs asks")]
    /// What `percent` of its answers took at most.
    pub(crate) fn percentile(&self, percent: f64) -> Duration {
        let mut took = self.took.lock().unwrap().clone();
        took.sort_unstable();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = (percent / 100.0 * took.len() as f64).ceil() as usize;
        took[count.clamp(1, took.len()) - 1]
    }
}

/// Accepts, and gives each connection a thread.
pub(crate) fn serve(talk: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.set_nodelay(true).unwrap();
            let talk = Arc::clone(&talk);
            thread::spawn(move || talk(&mut stream));
        }
    });
    address
}

/// Reads up to a blank line. Whether there was one.
pub(crate) fn read_request(stream: &mut impl Read) -> bool {
    let mut last = [0; 4];
    let mut byte = [0; 512];
    loop {
        let Ok(length @ 1..) = stream.read(&mut byte) else { return false };
        for byte in &byte[..length] {
            last.rotate_left(1);
            last[3] = *byte;
        }
        if &last == b"\r\n\r\n" {
            return true;
        }
    }
}
