//! One connection that many tasks use at once.
//!
//! A request is written in full or not at all to a common buffer, answers come in the order of the requests, and one task
//! per connection reads them and hands them out. Who asks when nothing else is under way writes to the socket itself, which
//! saves a hop; who asks later leaves it to the task, which then sends all that has gathered with one system call.
//!
//! Nobody waits longer than the time limit, whatever the server does: a late answer is thrown away when it comes, and a
//! connection on which nothing moved for that long is closed. Start reading at [`Connection::call`].

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::ReadBuf;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use super::address::{Reader, Writer};
use super::failure::Failure;
use super::protocol::{Code, Parser, Reply};

/// How much is read at once. Values that are longer come in several reads.
const READ: usize = 16 << 10;

/// Requests that may wait on one connection; a bound on memory, far above what a server keeps up with.
const WAITING_LIMIT: usize = 100_000;

/// Bytes that may wait to be sent; a bound on memory for large values.
const OUT_LIMIT: usize = 256 << 20;

/// What a connection needs to know.
#[derive(Clone)]
pub(super) struct Settings {
    /// For errors.
    pub(super) server: Arc<str>,
    pub(super) timeout: Duration,
    /// Of one value, in bytes.
    pub(super) value_limit: usize,
}

/// One connection. When the last handle is dropped, it ends.
pub(super) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    writer: Writer,
    settings: Settings,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Not sent yet. Nothing here while nobody waits: each request has an answer.
    out: Vec<u8>,
    waiting: VecDeque<Waiting>,
    /// The connection's task, if it sleeps and wants to hear of requests.
    sleeper: Option<Waker>,
    /// The task will look at the time limits by itself.
    armed: bool,
    /// Nobody has a handle any more.
    dropped: bool,
    ended: Option<Failure>,
}

struct Waiting {
    answer: Answer,
    until: Instant,
}

/// Who gets an answer.
enum Answer {
    One(oneshot::Sender<Result<Reply, Failure>>),
    /// All answers up to the end of the batch.
    Batch(oneshot::Sender<Result<Vec<Reply>, Failure>>, Vec<Reply>),
    /// Who asked could not wait any longer.
    Nobody,
    /// The same, and it was a batch.
    NobodyForBatch,
}

impl Answer {
    fn fail(self, failure: Failure) {
        // Who asked may have been dropped; then nobody wants to know.
        match self {
            Self::One(sender) => drop(sender.send(Err(failure))),
            Self::Batch(sender, _) => drop(sender.send(Err(failure))),
            Self::Nobody | Self::NobodyForBatch => {}
        }
    }

    fn is_nobody(&self) -> bool {
        matches!(self, Self::Nobody | Self::NobodyForBatch)
    }

    /// What is left after the time limit: the place in the order.
    fn vacate(&mut self) -> Self {
        let vacant = if matches!(self, Self::One(_)) { Self::Nobody } else { Self::NobodyForBatch };
        std::mem::replace(self, vacant)
    }
}

impl Connection {
    /// Serves a new connection from a task of the current runtime.
    pub(super) fn new(reader: Reader, writer: Writer, settings: Settings) -> Self {
        let parser = Parser::new(settings.value_limit);
        let shared = Arc::new(Shared { writer, settings, state: Mutex::default() });
        let task = Task {
            shared: Arc::clone(&shared),
            reader,
            parser,
            input: vec![0; READ].into(),
            have: 0,
            outgoing: Vec::new(),
            sent: 0,
            moved: Instant::now(),
            alarm: None,
        };
        tokio::spawn(task.run());
        Self { shared }
    }

    /// Whether no request will be answered any more.
    pub(super) fn has_ended(&self) -> bool {
        self.shared.lock().ended.is_some()
    }

    /// Sends one request, and gives its answer to who awaits it.
    pub(super) fn call(&self, request: impl FnOnce(&mut Vec<u8>)) -> Result<Wait<Reply>, Failure> {
        let (sender, answer) = oneshot::channel();
        self.shared.enqueue(Answer::One(sender), request)?;
        Ok(Wait { answer, shared: Arc::clone(&self.shared) })
    }

    /// Sends requests that end with a [fence](super::protocol::fence), and gives all answers before the fence's.
    pub(super) fn batch(&self, requests: impl FnOnce(&mut Vec<u8>)) -> Result<Wait<Vec<Reply>>, Failure> {
        let (sender, answer) = oneshot::channel();
        self.shared.enqueue(Answer::Batch(sender, Vec::new()), requests)?;
        Ok(Wait { answer, shared: Arc::clone(&self.shared) })
    }
}

/// An answer that is on its way.
pub(super) struct Wait<T> {
    answer: oneshot::Receiver<Result<T, Failure>>,
    shared: Arc<Shared>,
}

impl<T> Future for Wait<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(Pin::new(&mut self.answer).poll(cx));
        Poll::Ready(answer.unwrap_or_else(|_| Err(self.shared.gone())))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.dropped = true;
        let sleeper = state.sleeper.take();
        drop(state);
        sleeper.inspect(Waker::wake_by_ref);
    }
}

impl Shared {
    /// A panic while this is held is a bug of ours, and would leave no half-written request behind.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(&self, answer: Answer, request: impl FnOnce(&mut Vec<u8>)) -> Result<(), Failure> {
        let mut state = self.lock();
        if let Some(ended) = &state.ended {
            return Err(ended.clone());
        }
        if state.waiting.len() >= WAITING_LIMIT || state.out.len() >= OUT_LIMIT {
            return Err(Failure::Full { server: Arc::clone(&self.settings.server), waiting: state.waiting.len() });
        }
        let alone = state.waiting.is_empty();
        request(&mut state.out);
        state.waiting.push_back(Waiting { answer, until: Instant::now() + self.settings.timeout });
        if alone {
            self.send_now(&mut state);
        }
        let sleeper = if !state.armed || !state.out.is_empty() { state.sleeper.take() } else { None };
        drop(state);
        sleeper.inspect(Waker::wake_by_ref);
        Ok(())
    }

    /// Sends what the socket takes; an error is the task's to find.
    fn send_now(&self, state: &mut State) {
        if let Ok(sent) = self.writer.try_write(&state.out) {
            if sent == state.out.len() {
                state.out.clear();
            } else {
                state.out.drain(..sent);
            }
        }
    }

    /// Ends the connection; everybody who waits is told why.
    fn end(&self, failure: &Failure) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(|| failure.clone());
        let waiting = std::mem::take(&mut state.waiting);
        state.out = Vec::new();
        drop(state);
        for waiting in waiting {
            waiting.answer.fail(failure.clone());
        }
    }

    fn ended(&self, why: &str) -> Failure {
        Failure::Ended { server: Arc::clone(&self.settings.server), why: why.into() }
    }

    fn gone(&self) -> Failure {
        self.ended("the runtime it belonged to has stopped")
    }

    /// Gives an answer to whom it belongs.
    fn hand_out(&self, reply: Reply) -> Result<(), Failure> {
        let mut state = self.lock();
        let Some(first) = state.waiting.front_mut() else {
            drop(state);
            // memcached says so, unasked, when it has too many connections, and closes.
            return Err(match reply.code {
                Code::Error(said) => Failure::Refused { server: Arc::clone(&self.settings.server), said: said.into() },
                _ => Failure::garbage("an answer to which there is no question", b""),
            });
        };
        let is_fence = reply.code == Code::Mn;
        match &mut first.answer {
            Answer::Batch(_, replies) if !is_fence => {
                replies.push(reply);
                return Ok(());
            }
            Answer::NobodyForBatch if !is_fence => return Ok(()),
            _ => {}
        }
        let first = state.waiting.pop_front();
        drop(state);
        match first.map(|first| first.answer) {
            Some(Answer::One(sender)) => drop(sender.send(Ok(reply))),
            Some(Answer::Batch(sender, replies)) => drop(sender.send(Ok(replies))),
            _ => {}
        }
        Ok(())
    }

    /// Tells those whose time is over; gives the moment at which the next one's is.
    fn expire(&self, now: Instant) -> Option<Instant> {
        let mut late = Vec::new();
        let mut state = self.lock();
        let mut next = None;
        for waiting in state.waiting.iter_mut().filter(|waiting| !waiting.answer.is_nobody()) {
            if waiting.until > now {
                next = Some(waiting.until);
                break;
            }
            late.push(waiting.answer.vacate());
        }
        drop(state);
        for answer in late {
            answer.fail(self.timed_out());
        }
        next
    }

    fn timed_out(&self) -> Failure {
        Failure::TimedOut { server: Arc::clone(&self.settings.server), after: self.settings.timeout }
    }
}

/// What moves the bytes of one connection.
struct Task {
    shared: Arc<Shared>,
    reader: Reader,
    parser: Parser,
    /// Where what arrives is put; the first `have` bytes are not understood yet. The parser leaves at most a line.
    input: Box<[u8]>,
    have: usize,
    /// Being sent, and how much of it is.
    outgoing: Vec<u8>,
    sent: usize,
    /// When a byte last went either way.
    moved: Instant,
    /// Set while somebody waits; rings at the time limit of the first, or later.
    alarm: Option<Pin<Box<Sleep>>>,
}

/// Also when the runtime drops the task half-way.
impl Drop for Task {
    fn drop(&mut self) {
        self.shared.end(&self.shared.gone());
    }
}

impl Task {
    async fn run(mut self) {
        let failure = std::future::poll_fn(|cx| self.poll(cx)).await;
        if let Some(failure) = failure {
            tracing::debug!(target: "skep_cache", %failure, "a connection to memcached ended");
            self.shared.end(&failure);
        }
    }

    /// Ready with why the connection ended; with nothing if nobody needs it any more.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Failure>> {
        loop {
            if let Poll::Ready(result) = self.poll_send(cx)
                && let Err(error) = result
            {
                return Poll::Ready(Some(self.shared.ended(&error.to_string())));
            }
            if let Poll::Ready(failure) = self.poll_receive(cx) {
                return Poll::Ready(Some(failure));
            }
            if let Poll::Ready(failure) = self.poll_alarm(cx) {
                return Poll::Ready(Some(failure));
            }
            let mut state = self.shared.lock();
            if state.dropped {
                return Poll::Ready(None);
            }
            state.armed = self.alarm.is_some();
            let nothing_to_send = state.out.is_empty() || self.sent < self.outgoing.len();
            if nothing_to_send && (state.armed || state.waiting.is_empty()) {
                match &mut state.sleeper {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
                return Poll::Pending;
            }
        }
    }

    /// Sends until nothing is left (ready) or the socket takes no more (pending).
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.sent == self.outgoing.len() {
                self.outgoing.clear();
                self.sent = 0;
                if self.outgoing.capacity() > 4 * READ {
                    self.outgoing = Vec::new();
                }
                std::mem::swap(&mut self.outgoing, &mut self.shared.lock().out);
                if self.outgoing.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            match self.shared.writer.try_write(&self.outgoing[self.sent..]) {
                Ok(sent) => {
                    self.sent += sent;
                    self.moved = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(self.shared.writer.poll_write_ready(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Reads until nothing is there (pending) or nothing will be (ready).
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        loop {
            let mut buffer = ReadBuf::new(&mut self.input[self.have..]);
            let polled = self.reader.poll_read(cx, &mut buffer);
            let read = buffer.filled().len();
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(self.shared.ended(&error.to_string())),
                Poll::Ready(Ok(())) if read == 0 => {
                    return Poll::Ready(self.shared.ended("the server closed it"));
                }
                Poll::Ready(Ok(())) => self.moved = Instant::now(),
            }
            self.have += read;
            if let Err(failure) = self.understand() {
                return Poll::Ready(failure);
            }
        }
    }

    fn understand(&mut self) -> Result<(), Failure> {
        let mut used = 0;
        while used < self.have {
            let (taken, reply) = self.parser.take(&self.input[used..self.have])?;
            used += taken;
            match reply {
                Some(reply) => self.shared.hand_out(reply)?,
                None if taken == 0 => break,
                None => {}
            }
        }
        self.input.copy_within(used..self.have, 0);
        self.have -= used;
        Ok(())
    }

    /// Ready if nothing moved for as long as anybody may wait.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Failure> {
        loop {
            let Some(alarm) = &mut self.alarm else {
                let Some(first) = self.shared.lock().waiting.front().map(|waiting| waiting.until) else {
                    return Poll::Pending;
                };
                self.alarm = Some(Box::pin(tokio::time::sleep_until(first)));
                continue;
            };
            ready!(alarm.as_mut().poll(cx));
            let now = Instant::now();
            let next = self.shared.expire(now);
            let first = self.shared.lock().waiting.front().map(|waiting| waiting.until);
            self.alarm = None;
            let Some(first) = first else { continue };
            // What was asked just now may not have been sent yet, on a connection where nothing has moved for long: a thread
            // that was kept busy elsewhere hears an old alarm late.
            let limit = first.max(self.moved + self.shared.settings.timeout);
            if now >= limit {
                return Poll::Ready(self.shared.timed_out());
            }
            let moment = next.map_or(limit, |next| next.min(limit));
            self.alarm = Some(Box::pin(tokio::time::sleep_until(moment)));
        }
    }
}
