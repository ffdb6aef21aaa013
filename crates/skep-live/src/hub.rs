//! What one process has of messages: the newest ones of each key that somebody subscribes to, each once for all
//! subscribers.
//!
//! One thread reads what is new, when it is woken, and puts it where subscribers of its key find it. A subscriber reads
//! there at its own pace; who is so late that the next message is gone has to reload.
//!
//! Start reading at [`Hub::push`] and [`Channel::poll_after`].

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};

use skep::sse::Event;
use skep_units::lock;

/// A message as it is in the database.
pub(crate) type Row = (i64, String, String, String);

/// A message to all its subscribers. How it is sent is made by the first who sends it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) number: i64,
    pub(crate) payload: String,
    event: OnceLock<Event>,
    frame: OnceLock<String>,
}

impl Entry {
    pub(crate) fn new(number: i64, payload: String) -> Self {
        Self { number, payload, event: OnceLock::new(), frame: OnceLock::new() }
    }

    pub(crate) fn event(&self) -> &Event {
        self.event.get_or_init(|| Event::text(&*self.payload).id(self.number).encoded())
    }

    /// For WebSockets.
    pub(crate) fn frame(&self) -> &str {
        self.frame.get_or_init(|| format!("{{\"number\":{},\"message\":{}}}", self.number, self.payload))
    }
}

/// What a subscriber finds.
#[derive(Debug)]
pub(crate) enum Next {
    Entry(Arc<Entry>),
    /// It is gone.
    Reload,
}

/// The messages of one key.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Of the topic, and the key.
    name: (String, String),
    state: Mutex<ChannelState>,
    /// Messages that are there at most.
    most: usize,
}

#[derive(Debug)]
struct ChannelState {
    entries: VecDeque<Arc<Entry>>,
    /// All messages with a higher number are in `entries`.
    from: i64,
    /// By the place of a subscriber.
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Channel {
    fn new(name: (String, String), from: i64, most: usize) -> Self {
        let state = ChannelState { entries: VecDeque::new(), from, wakers: Vec::new(), free: Vec::new() };
        Self { name, state: Mutex::new(state), most }
    }

    /// All messages with a higher number are here.
    pub(crate) fn from(&self) -> i64 {
        lock(&self.state).from
    }

    fn join(&self) -> usize {
        let mut state = lock(&self.state);
        state.free.pop().unwrap_or_else(|| {
            state.wakers.push(None);
            state.wakers.len() - 1
        })
    }

    /// True if nobody is left.
    fn leave(&self, place: usize) -> bool {
        let mut state = lock(&self.state);
        state.wakers[place] = None;
        state.free.push(place);
        state.free.len() == state.wakers.len()
    }

    /// True if all messages up to `last`, which this process has heard of, were given to who has got this one.
    pub(crate) fn is_quiet_after(&self, number: i64) -> bool {
        let state = lock(&self.state);
        number >= state.from && state.entries.back().is_none_or(|entry| entry.number <= number)
    }

    /// The first message after this one.
    pub(crate) fn poll_after(&self, number: i64, place: usize, cx: &Context<'_>) -> Poll<Next> {
        let mut state = lock(&self.state);
        if number < state.from {
            return Poll::Ready(Next::Reload);
        }
        let next = state.entries.partition_point(|entry| entry.number <= number);
        if let Some(entry) = state.entries.get(next) {
            return Poll::Ready(Next::Entry(Arc::clone(entry)));
        }
        match &mut state.wakers[place] {
            Some(known) => known.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn push(&self, entry: Arc<Entry>) {
        let mut state = lock(&self.state);
        state.entries.push_back(entry);
        if state.entries.len() > self.most
            && let Some(oldest) = state.entries.pop_front()
        {
            state.from = oldest.number;
        }
    }

    fn wake(&self) {
        let waiting: Vec<Waker> = lock(&self.state).wakers.iter_mut().filter_map(Option::take).collect();
        waiting.into_iter().for_each(Waker::wake);
    }
}

type Channels = HashMap<(String, String), Arc<Channel>>;

/// The messages of a process.
#[derive(Debug, Default)]
pub(crate) struct Hub(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    channels: Channels,
    /// The number of the last message that was read; none before the first subscription.
    last: Option<i64>,
}

impl Hub {
    pub(crate) fn last(&self) -> Option<i64> {
        lock(&self.0).last
    }

    /// Begins after this message, unless it has begun.
    pub(crate) fn begin(&self, last: i64) {
        lock(&self.0).last.get_or_insert(last);
    }

    /// Where messages of this key are put from now on, and the place of a subscriber.
    pub(crate) fn join(&self, topic: &str, key: &str, most: usize) -> (Arc<Channel>, usize) {
        let mut state = lock(&self.0);
        let (from, name) = (state.last.unwrap_or_default(), (topic.to_owned(), key.to_owned()));
        let channel = state.channels.entry(name);
        let channel = channel.or_insert_with_key(|name| Arc::new(Channel::new(name.clone(), from, most)));
        (Arc::clone(channel), channel.join())
    }

    /// A subscriber is gone. Of a key that has none, nothing is kept.
    pub(crate) fn leave(&self, channel: &Channel, place: usize) {
        let mut state = lock(&self.0);
        if channel.leave(place) {
            state.channels.remove(&channel.name);
        }
    }

    /// Puts messages where their subscribers find them, and wakes those.
    pub(crate) fn push(&self, rows: Vec<Row>) {
        let mut woken: Vec<Arc<Channel>> = Vec::new();
        let mut state = lock(&self.0);
        for (number, topic, key, payload) in rows {
            state.last = Some(number);
            if let Some(channel) = state.channels.get(&(topic, key)) {
                channel.push(Arc::new(Entry::new(number, payload)));
                if !woken.iter().any(|known| Arc::ptr_eq(known, channel)) {
                    woken.push(Arc::clone(channel));
                }
            }
        }
        drop(state);
        for channel in woken {
            channel.wake();
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/hub.rs"]
mod tests;
