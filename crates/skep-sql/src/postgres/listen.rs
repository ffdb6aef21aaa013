//! Notifications: what is said on a channel of PostgreSQL (`notify`), to all who listen on this thread.
//!
//! All of them share one connection, which a task of its own opens, and opens again when it is lost. What was said
//! meanwhile nobody repeats: they are notified that they may have missed something.
//!
//! Start reading at [`Listener::listen`].

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use futures_channel::oneshot;
use futures_core::Stream;
use skep_units::lock;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client};

use super::super::error::{Error, Kind, Result};
use super::PerProcess;
use super::connection::CONNECT;
use super::failure::{failed, no_answer, unreachable};
use super::pool::ReconnectDelay;

/// The bytes that PostgreSQL keeps of a name.
const LONGEST_NAME: usize = 63;

/// What somebody who listens on a channel hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// What was said: the payload of `notify`, or an empty text.
    Said(String),
    /// There may have been others before the next one, which nobody has any more: the connection was lost for a while,
    /// or they were not taken as fast as they came. Read again what they are about.
    Missed,
}

/// What is said on a channel of PostgreSQL, from now on: [`Local::listen`](crate::Local::listen). It is a [`Stream`]
/// without an end.
#[must_use = "notifications are heard as they are asked for"]
pub struct Notifications {
    name: Arc<str>,
    queue: Arc<Queue>,
    listener: Arc<Listener>,
}

impl Notifications {
    /// The next one. It waits until there is one.
    pub async fn next(&mut self) -> Notification {
        poll_fn(|cx| self.queue.poll(cx)).await
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        Poll::Ready(Some(ready!(self.queue.poll(cx))))
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        let mut channels = lock(&self.listener.channels);
        let Entry::Occupied(mut channel) = channels.entry(Arc::clone(&self.name)) else { return };
        channel.get_mut().retain(|queue| !Arc::ptr_eq(queue, &self.queue));
        if channel.get().is_empty() {
            channel.remove();
            self.listener.tell(Command::Leave(Arc::clone(&self.name)));
        }
    }
}

skep_units::opaque_debug!(Notifications);

/// What one listener has not taken yet.
#[derive(Default)]
struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    said: VecDeque<String>,
    has_missed: bool,
    waker: Option<Waker>,
}

impl Queue {
    fn poll(&self, cx: &mut Context<'_>) -> Poll<Notification> {
        let mut waiting = lock(&self.0);
        if std::mem::take(&mut waiting.has_missed) {
            return Poll::Ready(Notification::Missed);
        }
        if let Some(said) = waiting.said.pop_front() {
            return Poll::Ready(Notification::Said(said));
        }
        waiting.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Of more than `most`, none is kept: who reads the tables again sees what all of them were about.
    fn push(&self, said: &str, most: usize) {
        self.change(|waiting| {
            if waiting.said.len() < most {
                waiting.said.push_back(said.to_owned());
            } else {
                waiting.miss();
            }
        });
    }

    fn miss(&self) {
        self.change(Waiting::miss);
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let mut waiting = lock(&self.0);
        change(&mut waiting);
        let waker = waiting.waker.take();
        drop(waiting);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Waiting {
    fn miss(&mut self) {
        self.said.clear();
        self.has_missed = true;
    }
}

/// Who listens, by the name of the channel.
type Channels = HashMap<Arc<str>, Vec<Arc<Queue>>>;

/// For all who listen on one thread.
#[derive(Default)]
pub(super) struct Listener {
    channels: Arc<Mutex<Channels>>,
    /// To the task with the connection.
    commands: Mutex<Option<mpsc::UnboundedSender<Command>>>,
}

enum Command {
    /// Says when the channel is heard.
    Hear(Arc<str>, oneshot::Sender<Result<()>>),
    /// Nobody listened to it when this was sent.
    Leave(Arc<str>),
    /// The connection of this number is lost, and if it was the last one, the next one is to be opened.
    Lost(u64),
}

impl Listener {
    pub(super) async fn listen(self: &Arc<Self>, shared: &Arc<PerProcess>, name: &str) -> Result<Notifications> {
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            let problem =
                format!("the name of a channel has 1 to {LONGEST_NAME} bytes and no NUL, which this has not: {name:?}");
            return Err(Error::other(problem));
        }
        let name = Arc::from(name);
        let queue = Arc::<Queue>::default();
        lock(&self.channels).entry(Arc::clone(&name)).or_default().push(Arc::clone(&queue));
        let notifications = Notifications { name: Arc::clone(&name), queue, listener: Arc::clone(self) };
        let (sender, heard) = oneshot::channel();
        self.start(shared);
        self.tell(Command::Hear(name, sender));
        let limit = shared.options.statement_limit();
        let heard = tokio::time::timeout(limit, heard).await.map_err(|_| no_answer(limit))?;
        heard.map_err(|oneshot::Canceled| Kind::Abandoned)??;
        // What came meanwhile is for those who listened before.
        notifications.queue.change(|waiting| waiting.said.clear());
        Ok(notifications)
    }

    fn start(&self, shared: &Arc<PerProcess>) {
        let mut commands = lock(&self.commands);
        if commands.as_ref().is_none_or(mpsc::UnboundedSender::is_closed) {
            let (sender, receiver) = mpsc::unbounded_channel();
            let task = Task {
                shared: Arc::clone(shared),
                channels: Arc::clone(&self.channels),
                own: sender.downgrade(),
                number: 0,
                open: None,
                is_lost: false,
                delay: None,
            };
            tokio::spawn(task.run(receiver));
            *commands = Some(sender);
        }
    }

    fn tell(&self, command: Command) {
        // A task that is gone has no connection either.
        _ = lock(&self.commands).as_ref().map(|commands| commands.send(command));
    }
}

/// Has the connection. It ends with the listener.
struct Task {
    shared: Arc<PerProcess>,
    channels: Arc<Mutex<Channels>>,
    own: mpsc::WeakUnboundedSender<Command>,
    /// How many connections were opened.
    number: u64,
    open: Option<Open>,
    /// One was lost, and there is no other one since.
    is_lost: bool,
    delay: Option<ReconnectDelay>,
}

struct Open {
    client: Client,
    heard: HashSet<Arc<str>>,
}

impl Task {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        while let Some(command) = commands.recv().await {
            match command {
                Command::Hear(name, done) => {
                    let heard = self.hear(name).await;
                    _ = done.send(heard);
                }
                Command::Leave(name) => self.leave(&name).await,
                Command::Lost(number) if number == self.number => {
                    self.open = None;
                    self.is_lost = !lock(&self.channels).is_empty();
                    if self.is_lost
                        && let Err(error) = self.connected().await
                    {
                        tracing::warn!(target: "skep::sql", "notifications of PostgreSQL are not heard: {error}");
                    }
                }
                Command::Lost(_) => {}
            }
        }
    }

    async fn hear(&mut self, name: Arc<str>) -> Result<()> {
        self.connected().await?.hear(name).await
    }

    async fn leave(&mut self, name: &Arc<str>) {
        let Some(open) = &mut self.open else { return };
        // Somebody may have come meanwhile.
        if lock(&self.channels).contains_key(name) || !open.heard.remove(name) {
            return;
        }
        if open.heard.is_empty() {
            self.open = None;
        } else {
            // If it fails, the connection is lost, and the next one does not hear the channel.
            let unlisten = format!("unlisten {}", quoted(name));
            _ = tokio::time::timeout(CONNECT, open.client.batch_execute(&unlisten)).await;
        }
    }

    /// The connection. If it is the first one, it hears all channels by then, and if one was lost before it, everybody
    /// is notified.
    async fn connected(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            if let Some(reason) = ReconnectDelay::reason(self.delay.as_ref()) {
                return Err(unreachable(reason));
            }
            match self.connect().await {
                Ok(opened) => {
                    self.open = Some(opened);
                    self.delay = None;
                    if std::mem::take(&mut self.is_lost) {
                        lock(&self.channels).values().flatten().for_each(|queue| queue.miss());
                    }
                }
                Err(error) => {
                    self.later(error.reason());
                    return Err(error);
                }
            }
        }
        self.open.as_mut().ok_or_else(|| Kind::Abandoned.into())
    }

    /// Nothing is tried for a while. Then it is, if anybody is left without a connection.
    fn later(&mut self, reason: String) {
        let delay = ReconnectDelay::after(self.delay.take(), reason);
        let (own, number, until) = (self.own.clone(), self.number, delay.until);
        self.delay = Some(delay);
        if self.is_lost {
            tokio::spawn(async move {
                tokio::time::sleep_until(until.into()).await;
                own.upgrade().map(|own| own.send(Command::Lost(number)))
            });
        }
    }

    async fn connect(&mut self) -> Result<Open> {
        let opened = tokio::time::timeout(CONNECT, self.shared.config.connect(self.shared.tls.clone())).await;
        let opened = opened.map_or_else(|_| Err(no_answer(CONNECT)), |opened| opened.map_err(failed));
        let counts = &self.shared.counts;
        let count = if opened.is_ok() { &counts.opened } else { &counts.failed };
        count.fetch_add(1, Ordering::Relaxed);
        let (client, mut connection) = opened?;
        self.number += 1;
        let (channels, own, number) = (Arc::clone(&self.channels), self.own.clone(), self.number);
        let (shared, most) = (Arc::clone(&self.shared), self.shared.options.notifications);
        tokio::spawn(async move {
            let lost = loop {
                match poll_fn(|cx| connection.poll_message(cx)).await {
                    Some(Ok(AsyncMessage::Notification(said))) => {
                        let channels = lock(&channels);
                        let queues = channels.get(said.channel()).into_iter().flatten();
                        queues.for_each(|queue| queue.push(said.payload(), most));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) => break error,
                    // The client is gone, and wants no other one.
                    None => return,
                }
            };
            shared.counts.lost.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(target: "skep::sql", "the connection for notifications of PostgreSQL is lost: {lost}");
            _ = own.upgrade().map(|own| own.send(Command::Lost(number)));
        });
        let mut open = Open { client, heard: HashSet::new() };
        let names: Vec<Arc<str>> = lock(&self.channels).keys().cloned().collect();
        for name in names {
            open.hear(name).await?;
        }
        Ok(open)
    }
}

impl Open {
    async fn hear(&mut self, name: Arc<str>) -> Result<()> {
        if !self.heard.contains(&name) {
            let listen = format!("listen {}", quoted(&name));
            let heard = tokio::time::timeout(CONNECT, self.client.batch_execute(&listen)).await;
            heard.map_err(|_| no_answer(CONNECT))?.map_err(failed)?;
            self.heard.insert(name);
        }
        Ok(())
    }
}

/// As an identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
