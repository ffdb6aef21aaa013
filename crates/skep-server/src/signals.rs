//! What the main thread of a server waits for: signals, commands of the supervisor, the exit of worker threads.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};

use tokio::io::unix::AsyncFd;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use crate::channel::{Command, CommandReader};
use crate::procfs;
use crate::sys;
use crate::worker_state::{WorkerExit, WorkerState};

/// How the wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All workers exited as requested.
    Done,
    /// A worker exited although nothing requested it.
    WorkerFailed,
    /// Exit at once because of this signal.
    Quit(u8),
}

const QUIT: i32 = libc::SIGQUIT;

/// The signals of this process, from the moment this is created, and the commands of its supervisor if it has one.
pub(crate) struct Signals {
    runtime: Runtime,
    received: SignalPipe,
    commands: Option<CommandReader>,
}

/// Signals that have arrived. tokio's own signal handling would create a pair of sockets in each runtime, also in a
/// process that is forked for one request.
struct SignalPipe {
    pipe: AsyncFd<OwnedFd>,
    pending: VecDeque<i32>,
}

impl SignalPipe {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<i32> {
        loop {
            if let Some(signal) = self.pending.pop_front() {
                return Poll::Ready(signal);
            }
            // An error means that the runtime is shutting down.
            let Poll::Ready(Ok(mut ready)) = self.pipe.poll_read_ready(cx) else { return Poll::Pending };
            self.pending.extend(sys::signals::received(ready.get_inner()));
            if self.pending.is_empty() {
                ready.clear_ready();
            }
        }
    }
}

impl Signals {
    /// `channel` leads to the supervisor. The supervisor handles the terminal's signals then, and the worker ignores
    /// them.
    pub(crate) fn listen(channel: Option<UnixStream>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let entered = runtime.enter();
        let interrupt = channel.is_none().then_some(libc::SIGINT);
        let signals: Vec<i32> = [QUIT, libc::SIGTERM].into_iter().chain(interrupt).collect();
        let signals = SignalPipe { pipe: sys::async_fd(sys::signals::catch(&signals)?)?, pending: VecDeque::new() };
        if channel.is_some() {
            for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
                sys::signals::ignore(signal)?;
            }
            sys::signals::print_backtrace_on(procfs::backtrace_signal())?;
        }
        let commands = channel.map(CommandReader::new).transpose()?;
        drop(entered);
        Ok(Self { runtime, received: signals, commands })
    }

    /// Waits until all `workers` have exited. TERM and INT drain them first; a second one, or QUIT, returns at once.
    /// `report` is called for the status of the application, as JSON or as text.
    pub(crate) fn wait(
        self,
        exits: &mut mpsc::UnboundedReceiver<WorkerExit>,
        workers: usize,
        mut set_state: impl FnMut(WorkerState),
        report: impl Fn(bool) -> String,
    ) -> Outcome {
        let Self { runtime, mut received, mut commands } = self;
        let (mut left, mut draining) = (workers, false);
        runtime.block_on(async {
            loop {
                match next(&mut received, &mut commands, exits).await {
                    Event::Signal(QUIT) | Event::Command(Command::Quit) => return quit(QUIT),
                    // When a supervisor dies, a signal and the channel both tell; together they are one request.
                    Event::Signal(signal) if draining && commands.is_none() => return quit(signal),
                    Event::Signal(signal) => {
                        tracing::info!(signal, "shutting down: waiting for requests in progress");
                        draining = true;
                        set_state(WorkerState::Draining);
                    }
                    Event::Command(Command::State(state)) => {
                        draining |= state != WorkerState::Serving;
                        set_state(state);
                    }
                    Event::Command(Command::Status { id, json }) => {
                        if let Some(commands) = &commands {
                            commands.send(&format!("status {id} {}", report(json)));
                        }
                    }
                    Event::Command(command) => command.execute(),
                    Event::Exit(Some(WorkerExit { expected: true })) => {
                        left -= 1;
                        if left == 0 {
                            return Outcome::Done;
                        }
                    }
                    Event::Exit(_) => return Outcome::WorkerFailed,
                }
            }
        })
    }
}

async fn next(
    signals: &mut SignalPipe,
    commands: &mut Option<CommandReader>,
    exits: &mut mpsc::UnboundedReceiver<WorkerExit>,
) -> Event {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(signal) = signals.poll_next(cx) {
            return Poll::Ready(Event::Signal(signal));
        }
        match commands.as_mut().map(|commands| commands.poll_next(cx)) {
            Some(Poll::Ready(command)) => Poll::Ready(Event::Command(command)),
            _ => exits.poll_recv(cx).map(Event::Exit),
        }
    })
    .await
}

fn quit(signal: i32) -> Outcome {
    Outcome::Quit(u8::try_from(signal).unwrap_or_default())
}

enum Event {
    Signal(i32),
    Command(Command),
    Exit(Option<WorkerExit>),
}
