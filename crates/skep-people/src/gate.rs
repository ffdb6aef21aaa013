//! How many passwords are hashed at once: each takes 19 MiB and all of a core, so a flood of sign-ins must not take all
//! memory and every core.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread::available_parallelism;

use futures_channel::oneshot::{self, Sender};
use skep_units::lock;

/// How many wait for their turn; more are refused.
pub(crate) const QUEUE: usize = 64;

/// Of the process: all threads share its cores.
static GATE: Gate = Gate { state: Mutex::new(State { running: 0, waiting: VecDeque::new() }) };

struct Gate {
    state: Mutex<State>,
}

struct State {
    running: usize,
    waiting: VecDeque<Sender<Permit>>,
}

/// Leave to hash one password. It belongs to the work, not to who waits for it: the work goes on when the client is
/// gone.
#[derive(Debug)]
pub(crate) struct Permit(());

/// Waits for a turn; `None` if too many wait already.
pub(crate) async fn enter() -> Option<Permit> {
    let turn = {
        let mut state = lock(&GATE.state);
        if state.running < cores() {
            state.running += 1;
            return Some(Permit(()));
        }
        state.waiting.retain(|waiting| !waiting.is_canceled());
        if state.waiting.len() >= QUEUE {
            return None;
        }
        let (turn, told) = oneshot::channel();
        state.waiting.push_back(turn);
        told
    };
    turn.await.ok()
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = lock(&GATE.state);
        while let Some(next) = state.waiting.pop_front() {
            match next.send(Self(())) {
                Ok(()) => return,
                // It gave up waiting. Its permit must not be dropped while the lock is held.
                Err(permit) => std::mem::forget(permit),
            }
        }
        state.running -= 1;
    }
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
#[path = "../tests/unit/gate.rs"]
mod tests;
