//! One connection that many tasks use at once.
//!
//! Requests are appended whole to a shared buffer, and replies come in the order of the requests. If nothing else is in
//! flight, a caller writes to the socket itself, which saves a hop; otherwise the writer task sends all that has
//! gathered with one system call. The reader task hands out the replies.
//!
//! No caller waits longer than the timeout: a late reply is discarded, and a connection that was silent for that long
//! is closed. Start reading at [`Connection::call`].

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skep_units::lock;
use tokio::io::ReadBuf;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::address::{Reader, Writer};
use super::protocol::{Code, Parser, Reply};
use crate::connections::Pooled;
use crate::error::Error;

/// Bytes read at once. Longer values come in several reads.
const READ: usize = 16 << 10;
/// Requests in flight on one connection; a limit on memory, far above what a server keeps up with.
const MAX_PENDING: usize = 100_000;
/// Bytes that wait to be sent; a limit on memory for large values.
const MAX_UNSENT: usize = 256 << 20;

#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The connection ended before the reply: the request may be repeated on a new one.
    Closed(Arc<str>),
    Failed(Arc<str>),
}

impl Failure {
    pub(super) fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into().into())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Closed(text) | Self::Failed(text)) = self;
        f.write_str(text)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::unreachable("waiting for memcached").because(failure.to_string())
    }
}

/// One connection. Dropping it closes it.
pub(super) struct Connection {
    shared: Arc<Shared>,
    tasks: [AbortHandle; 2],
}

struct Shared {
    server: Arc<str>,
    timeout: Duration,
    writer: Writer,
    unsent: Notify,
    state: Mutex<State>,
}

struct State {
    out: Vec<u8>,
    /// The writer task holds bytes that it has not sent yet.
    writing: bool,
    pending: VecDeque<Pending>,
    last_read: Instant,
    closed: Option<Failure>,
}

/// A request in flight. Its receiver may be gone.
enum Pending {
    One(oneshot::Sender<Result<Reply, Failure>>),
    /// All replies up to the end of the batch.
    Batch(oneshot::Sender<Result<Vec<Reply>, Failure>>, Vec<Reply>),
}

#[must_use]
pub(super) struct PendingReply<T> {
    receiver: oneshot::Receiver<Result<T, Failure>>,
    deadline: Instant,
    shared: Arc<Shared>,
}

impl Connection {
    /// Serves a new connection from two tasks of the current runtime.
    pub(super) fn new(reader: Reader, writer: Writer, server: Arc<str>, timeout: Duration, max_value: usize) -> Self {
        let (out, pending) = (Vec::new(), VecDeque::new());
        let state = State { out, writing: false, pending, last_read: Instant::now(), closed: None };
        let shared = Arc::new(Shared { server, timeout, writer, unsent: Notify::new(), state: Mutex::new(state) });
        let (reading, writing) = (Arc::clone(&shared), Arc::clone(&shared));
        let reading = tokio::spawn(async move {
            let guard = CloseOnDrop(reading);
            let failure = guard.0.receive(reader, Parser::new(max_value)).await;
            tracing::debug!(target: "skep_cache", %failure, "a connection to memcached ended");
            guard.0.close(&failure);
        });
        let writing = tokio::spawn(async move {
            if let Err(error) = writing.send().await {
                writing.close(&writing.ended(&error.to_string()));
            }
        });
        Self { shared, tasks: [reading.abort_handle(), writing.abort_handle()] }
    }

    pub(super) fn call(&self, request: impl FnOnce(&mut Vec<u8>)) -> Result<PendingReply<Reply>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let deadline = self.shared.enqueue(Pending::One(sender), request)?;
        Ok(PendingReply { receiver, deadline, shared: Arc::clone(&self.shared) })
    }

    /// Sends requests that end with a [fence](super::protocol::fence). The answer is all replies before that of the
    /// fence.
    pub(super) fn batch(&self, requests: impl FnOnce(&mut Vec<u8>)) -> Result<PendingReply<Vec<Reply>>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let deadline = self.shared.enqueue(Pending::Batch(sender, Vec::new()), requests)?;
        Ok(PendingReply { receiver, deadline, shared: Arc::clone(&self.shared) })
    }
}

impl Pooled for Connection {
    fn is_closed(&self) -> bool {
        lock(&self.shared.state).closed.is_some()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl<T> PendingReply<T> {
    pub(super) async fn wait(mut self) -> Result<T, Failure> {
        let received = match tokio::time::timeout_at(self.deadline, &mut self.receiver).await {
            Ok(received) => received.ok(),
            Err(_) => {
                // On a thread that was blocked, the reply may have arrived but not been read yet.
                tokio::task::yield_now().await;
                match self.receiver.try_recv() {
                    Err(oneshot::error::TryRecvError::Empty) => return Err(self.shared.timed_out()),
                    received => received.ok(),
                }
            }
        };
        received.unwrap_or_else(|| Err(self.shared.stopped()))
    }
}

/// Fails the pending requests if the runtime drops the reader task.
struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close(&self.0.stopped());
    }
}

impl Shared {
    /// Queues a request and gives its deadline.
    fn enqueue(&self, pending: Pending, request: impl FnOnce(&mut Vec<u8>)) -> Result<Instant, Failure> {
        let mut state = lock(&self.state);
        if let Some(failure) = &state.closed {
            return Err(failure.clone());
        }
        if state.pending.len() >= MAX_PENDING || state.out.len() >= MAX_UNSENT {
            let waiting = state.pending.len();
            return Err(Failure::failed(format!("{waiting} requests already wait for memcached at {}", self.server)));
        }
        let is_idle = state.pending.is_empty() && !state.writing && state.out.is_empty();
        request(&mut state.out);
        state.pending.push_back(pending);
        // The writer task finds out about errors.
        if is_idle && let Ok(sent) = self.writer.try_write(&state.out) {
            state.out.drain(..sent);
        }
        if !state.out.is_empty() && !state.writing {
            self.unsent.notify_one();
        }
        Ok(Instant::now() + self.timeout)
    }

    async fn send(&self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            {
                let mut state = lock(&self.state);
                std::mem::swap(&mut state.out, &mut bytes);
                state.writing = !bytes.is_empty();
            }
            let mut rest = &bytes[..];
            if rest.is_empty() {
                self.unsent.notified().await;
            }
            while !rest.is_empty() {
                match self.writer.try_write(rest) {
                    Ok(sent) => rest = &rest[sent..],
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writer.writable().await?,
                    Err(error) => return Err(error),
                }
            }
            bytes.clear();
            bytes.shrink_to(4 * READ);
        }
    }

    /// Reads and hands out replies until the connection ends.
    async fn receive(&self, mut reader: Reader, mut parser: Parser) -> Failure {
        // The first `filled` bytes are not parsed yet. The parser leaves at most a line.
        let (mut input, mut filled) = (vec![0; READ], 0);
        loop {
            let mut buffer = ReadBuf::new(&mut input[filled..]);
            if let Err(error) = poll_fn(|cx| reader.poll_read(cx, &mut buffer)).await {
                return self.ended(&error.to_string());
            }
            match buffer.filled().len() {
                0 => return self.ended("the server closed it"),
                read => filled += read,
            }
            lock(&self.state).last_read = Instant::now();
            let mut used = 0;
            while used < filled {
                let (taken, reply) = match parser.take(&input[used..filled]) {
                    Ok(parsed) => parsed,
                    Err(text) => {
                        return Failure::failed(format!("{} does not speak memcached's protocol: {text}", self.server));
                    }
                };
                used += taken;
                match reply {
                    Some(reply) => {
                        if let Err(failure) = self.hand_out(reply) {
                            return failure;
                        }
                    }
                    None if taken == 0 => break,
                    None => {}
                }
            }
            input.copy_within(used..filled, 0);
            filled -= used;
        }
    }

    /// Gives a reply to the request it belongs to.
    fn hand_out(&self, reply: Reply) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        match state.pending.pop_front() {
            Some(Pending::Batch(sender, mut replies)) if reply.code != Code::Mn => {
                replies.push(reply);
                state.pending.push_front(Pending::Batch(sender, replies));
            }
            Some(Pending::Batch(sender, replies)) => drop(sender.send(Ok(replies))),
            Some(Pending::One(sender)) => drop(sender.send(Ok(reply))),
            // memcached sends an error unasked when it has too many connections, and closes.
            None => {
                return Err(Failure::failed(match reply.code {
                    Code::Error(text) => format!("memcached at {} says: {text}", self.server),
                    other => format!("memcached at {} sent {other:?} without a request", self.server),
                }));
            }
        }
        Ok(())
    }

    /// Fails all pending requests and refuses new ones.
    fn close(&self, failure: &Failure) {
        let mut state = lock(&self.state);
        state.closed.get_or_insert_with(|| failure.clone());
        let pending = std::mem::take(&mut state.pending);
        state.out = Vec::new();
        drop(state);
        for pending in pending {
            match pending {
                Pending::One(sender) => drop(sender.send(Err(failure.clone()))),
                Pending::Batch(sender, _) => drop(sender.send(Err(failure.clone()))),
            }
        }
    }

    /// The failure of a request after its deadline. Closes the connection if it was silent for that long.
    fn timed_out(&self) -> Failure {
        let failure = Failure::failed(format!("memcached at {} did not answer within {:?}", self.server, self.timeout));
        let last_read = lock(&self.state).last_read;
        if last_read.elapsed() >= self.timeout {
            self.close(&failure);
        }
        failure
    }

    fn ended(&self, why: &str) -> Failure {
        Failure::Closed(format!("the connection to memcached at {} ended: {why}", self.server).into())
    }

    fn stopped(&self) -> Failure {
        self.ended("its runtime has stopped")
    }
}
