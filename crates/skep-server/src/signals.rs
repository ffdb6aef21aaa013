//! Signals, and the end of worker threads: what the main thread waits for.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::server::Ended;

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

const INT: u8 = 2;
const QUIT: u8 = 3;
const TERM: u8 = 15;

/// The signals this process listens to, from the moment this is made.
pub(crate) struct Signals {
    runtime: Runtime,
    signals: [(u8, Signal); 3],
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        let signals = [
            (INT, signal(SignalKind::interrupt())?),
            (QUIT, signal(SignalKind::quit())?),
            (TERM, signal(SignalKind::terminate())?),
        ];
        drop(entered);
        Ok(Self { runtime, signals })
    }

    /// Waits until all `workers` have ended. TERM and INT call `drain` first; a second one, or QUIT, ends the wait at once.
    pub(crate) fn wait(
        mut self,
        ended: &mut mpsc::UnboundedReceiver<Ended>,
        workers: usize,
        drain: impl FnMut(),
    ) -> Outcome {
        self.runtime.block_on(watch(&mut self.signals, ended, workers, drain))
    }
}

async fn watch(
    signals: &mut [(u8, Signal)],
    ended: &mut mpsc::UnboundedReceiver<Ended>,
    workers: usize,
    mut drain: impl FnMut(),
) -> Outcome {
    let mut left = workers;
    let mut draining = false;
    loop {
        match next(signals, ended).await {
            Event::Signal(QUIT) => return Outcome::AtOnce(QUIT),
            Event::Signal(number) if draining => return Outcome::AtOnce(number),
            Event::Signal(number) => {
                tracing::info!(signal = number, "finishing what runs");
                draining = true;
                drain();
            }
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

enum Event {
    Signal(u8),
    Ended(Option<Ended>),
}

async fn next(signals: &mut [(u8, Signal)], ended: &mut mpsc::UnboundedReceiver<Ended>) -> Event {
    let mut ended = pin!(ended.recv());
    std::future::poll_fn(|cx| {
        for (number, signal) in &mut *signals {
            if signal.poll_recv(cx).is_ready() {
                return Poll::Ready(Event::Signal(*number));
            }
        }
        ended.as_mut().poll(cx).map(Event::Ended)
    })
    .await
}
