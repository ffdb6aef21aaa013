//! Signals, and the end of worker threads: what the main thread waits for.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::Poll;

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

/// Waits until all `workers` have ended. TERM and INT call `drain` first; a second one, or QUIT, ends the wait at once.
/// `ready` is called when signals are heard.
pub(crate) fn wait(
    ended: &mut mpsc::UnboundedReceiver<Ended>,
    workers: usize,
    ready: impl FnOnce(),
    drain: impl FnMut(),
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    match runtime.map(|runtime| runtime.block_on(watch(ended, workers, ready, drain))) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) | Err(error) => {
            tracing::error!(%error, "cannot wait for signals");
            Outcome::Broken
        }
    }
}

async fn watch(
    ended: &mut mpsc::UnboundedReceiver<Ended>,
    workers: usize,
    ready: impl FnOnce(),
    mut drain: impl FnMut(),
) -> io::Result<Outcome> {
    let mut signals = [
        (INT, signal(SignalKind::interrupt())?),
        (QUIT, signal(SignalKind::quit())?),
        (TERM, signal(SignalKind::terminate())?),
    ];
    ready();
    let mut left = workers;
    let mut draining = false;
    loop {
        match next(&mut signals, ended).await {
            Event::Signal(QUIT) => return Ok(Outcome::AtOnce(QUIT)),
            Event::Signal(number) if draining => return Ok(Outcome::AtOnce(number)),
            Event::Signal(number) => {
                tracing::info!(signal = number, "finishing what runs");
                draining = true;
                drain();
            }
            Event::Ended(Some(Ended { as_told: true })) => {
                left -= 1;
                if left == 0 {
                    return Ok(Outcome::Done);
                }
            }
            Event::Ended(_) => return Ok(Outcome::Broken),
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
