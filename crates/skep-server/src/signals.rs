//! What the main thread of a server waits for: signals, orders of a supervisor, the end of worker threads.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::task::{Context, Poll};

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::log::{Files, Logs};
use crate::server::Ended;
use crate::worker::Life;
use crate::{seat, supervisor, sys};

/// How the wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All workers ended as they were told.
    Done,
    /// A worker ended that nobody told to.
    Broken,
    /// This signal allows no delay.
    AtOnce(u8),
}

const QUIT: i32 = libc::SIGQUIT;

/// The signals this process listens to, from the moment this is made, and the orders of its supervisor if it has one.
pub(crate) struct Signals {
    runtime: Runtime,
    heard: Heard,
    orders: Option<Orders>,
}

/// Signals that arrived. Not tokio's own: with those, each runtime makes a pair of sockets for them, also in a process that was forked
/// for one request.
struct Heard {
    pipe: AsyncFd<OwnedFd>,
    waiting: VecDeque<i32>,
}

impl Heard {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<i32> {
        loop {
            if let Some(number) = self.waiting.pop_front() {
                return Poll::Ready(number);
            }
            // A runtime that ends has nothing more to tell.
            let Poll::Ready(Ok(mut ready)) = self.pipe.poll_read_ready(cx) else { return Poll::Pending };
            self.waiting.extend(sys::signals::arrived(ready.get_inner()));
            if self.waiting.is_empty() {
                ready.clear_ready();
            }
        }
    }
}

impl Signals {
    /// `channel` leads to a supervisor. It hears the keyboard's signals, and a worker hears it.
    pub(crate) fn listen(channel: Option<UnixStream>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        let keyboard = channel.is_none().then_some(libc::SIGINT);
        let signals: Vec<i32> = [QUIT, libc::SIGTERM].into_iter().chain(keyboard).collect();
        let heard = Heard { pipe: sys::hear_of(sys::signals::catch(&signals)?)?, waiting: VecDeque::new() };
        let orders = match channel {
            None => None,
            Some(channel) => {
                for keyboard in [libc::SIGINT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
                    sys::signals::ignore(keyboard)?;
                }
                sys::signals::tell_place_on(supervisor::stack_signal())?;
                channel.set_nonblocking(true)?;
                Some(Orders { channel: tokio::net::UnixStream::from_std(channel)?, read: Vec::new() })
            }
        };
        drop(entered);
        Ok(Self { runtime, heard, orders })
    }

    /// Waits until all `workers` have ended. TERM and INT tell them to drain first; a second one, or QUIT, ends the wait at
    /// once. `report`: how the application is, if the supervisor asks.
    pub(crate) fn wait(
        mut self,
        ended: &mut mpsc::UnboundedReceiver<Ended>,
        workers: usize,
        tell: impl FnMut(Life),
        report: impl Fn(bool) -> String,
    ) -> Outcome {
        self.runtime.block_on(watch(&mut self.heard, &mut self.orders, ended, workers, tell, report))
    }
}

async fn watch(
    signals: &mut Heard,
    orders: &mut Option<Orders>,
    ended: &mut mpsc::UnboundedReceiver<Ended>,
    workers: usize,
    mut tell: impl FnMut(Life),
    report: impl Fn(bool) -> String,
) -> Outcome {
    let mut left = workers;
    let mut draining = false;
    loop {
        match next(signals, orders, ended).await {
            Event::Signal(QUIT) | Event::Order(Order::Quit) => return at_once(QUIT),
            // The supervisor's end is told by a signal and by its channel; that is one wish, not two.
            Event::Signal(number) if draining && orders.is_none() => return at_once(number),
            Event::Signal(number) => {
                tracing::info!(signal = number, "finishing what runs");
                draining = true;
                tell(Life::Drain);
            }
            // Where no thread has begun, none ends by itself.
            Event::Order(Order::Life(life)) => {
                draining |= life != Life::Serve;
                tell(life);
            }
            Event::Order(Order::Status { number, json }) => {
                if let Some(orders) = orders {
                    orders.say(&format!("status {number} {}", report(json)));
                }
            }
            Event::Order(order) => order.obey(),
            Event::Ended(Some(Ended { as_told: true })) => {
                left -= 1;
                if left == 0 {
                    return Outcome::Done;
                }
            }
            Event::Ended(_) => return Outcome::Broken,
        }
    }
}

fn at_once(signal: i32) -> Outcome {
    Outcome::AtOnce(u8::try_from(signal).unwrap_or_default())
}

enum Event {
    Signal(i32),
    Order(Order),
    Ended(Option<Ended>),
}

async fn next(signals: &mut Heard, orders: &mut Option<Orders>, ended: &mut mpsc::UnboundedReceiver<Ended>) -> Event {
    let mut ended = pin!(ended.recv());
    std::future::poll_fn(|cx| {
        if let Poll::Ready(number) = signals.poll_next(cx) {
            return Poll::Ready(Event::Signal(number));
        }
        if let Some(orders) = orders
            && let Poll::Ready(order) = orders.poll_next(cx)
        {
            return Poll::Ready(Event::Order(order));
        }
        ended.as_mut().poll(cx).map(Event::Ended)
    })
    .await
}

/// What a supervisor can ask of a worker. Its words are those of [`Display`](std::fmt::Display).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// `serve`: begin to accept; `leave`: accept nothing more, others do; `drain`: accept what waits, and then nothing more.
    Life(Life),
    Quit,
    Reopen(Files),
    Level(tracing::Level),
    /// One worker more.
    Add,
    /// Say how the application is. The answer has the number, so that it is no other question's.
    Status {
        number: u64,
        json: bool,
    },
}

impl Order {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "serve" => Self::Life(Life::Serve),
            "leave" => Self::Life(Life::Leave),
            "drain" => Self::Life(Life::Drain),
            "quit" => Self::Quit,
            "reopen" => Self::Reopen(Files::parse(rest)),
            "level" => Self::Level(rest.parse().ok()?),
            "add" => Self::Add,
            "status" => match rest.split_once(' ')? {
                (number, form @ ("text" | "json")) => {
                    Self::Status { number: number.parse().ok()?, json: form == "json" }
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Those that every process obeys alike.
    pub(crate) fn obey(&self) {
        match self {
            Self::Level(level) => Logs::change_level(*level),
            Self::Reopen(files) => {
                if let Err(error) = files.reopen() {
                    tracing::error!(%error, "the log files could not be opened again");
                }
            }
            _ => {}
        }
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Life(Life::Serve | Life::Wait) => f.write_str("serve"),
            Self::Life(Life::Drain) => f.write_str("drain"),
            Self::Life(Life::Leave) => f.write_str("leave"),
            Self::Quit => f.write_str("quit"),
            Self::Reopen(files) => write!(f, "reopen {}", files.to_order()),
            Self::Level(level) => write!(f, "level {level}"),
            Self::Add => f.write_str("add"),
            Self::Status { number, json } => write!(f, "status {number} {}", if *json { "json" } else { "text" }),
        }
    }
}

/// Orders that arrive, a line each.
struct Orders {
    channel: tokio::net::UnixStream,
    read: Vec<u8>,
}

impl Orders {
    /// Tells the supervisor, as a seat does. There is room for it: whoever does not read this asks no more.
    fn say(&self, line: &str) {
        let _ = self.channel.try_write(seat::line(line).as_bytes());
    }

    /// The next order. Nobody is left to give one: everything that runs is finished, and that is the end.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Order> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let order = std::str::from_utf8(&line[..end]).ok().and_then(Order::parse);
                if let Some(order) = order {
                    return Poll::Ready(order);
                }
                continue;
            }
            let mut bytes = [0; 256];
            let mut buffer = ReadBuf::new(&mut bytes);
            match std::pin::Pin::new(&mut self.channel).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.read.extend_from_slice(buffer.filled()),
                Poll::Ready(_) => {
                    // Once is enough: from now on nothing arrives here.
                    if std::mem::replace(&mut self.read, b" ".to_vec()) == b" " {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Order::Life(Life::Drain));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let orders =
            [Order::Life(Life::Leave), Order::Life(Life::Drain), Order::Quit, Order::Level(tracing::Level::DEBUG)];
        let others = [Order::Add, Order::Reopen(Files::default()), Order::Status { number: 7, json: true }];
        for order in orders.into_iter().chain(others) {
            assert_eq!(Order::parse(&order.to_string()), Some(order));
        }
        assert_eq!(Order::parse("dance"), None);
    }
}
