//! Replacing the running version.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Instant;

use super::{Supervisor, upgrade};
use crate::executable::{Executable, Stamp};

/// A swap that was requested.
#[derive(Debug, Default)]
pub(crate) struct Swap {
    /// The control client that waits for the outcome.
    pub(super) client: Option<UnixStream>,
    pub(super) allow_breaking_migration: bool,
    /// Do nothing if the file has the same content.
    pub(super) if_changed: bool,
    /// Replace the supervisor's program, too, once the worker runs the new version.
    pub(super) upgrade_supervisor: bool,
}

/// The state of a watched file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    tried: Stamp,
    seen: Option<Stamp>,
}

impl Watch {
    pub(super) fn new(tried: Stamp) -> Self {
        Self { tried, seen: None }
    }

    /// True if the file has changed, and has stayed the same since the last check.
    fn is_due(&mut self, now: Option<Stamp>) -> bool {
        let changed = now.filter(|stamp| *stamp != self.tried);
        let settled = changed.is_some() && changed == self.seen;
        self.seen = changed;
        if let (true, Some(stamp)) = (settled, changed) {
            self.tried = stamp;
        }
        settled
    }
}

impl Supervisor {
    /// Swaps if the executable on disk has changed (`swap.watch`).
    pub(super) fn watch(&mut self) {
        if self.config.swap.watch && self.shutdown.is_none() && self.watched.is_due(Stamp::at(&self.executable.path)) {
            self.swap(Swap { if_changed: true, ..Swap::default() });
        }
    }

    /// Starts the version on disk. The running version serves until the new one is ready.
    pub(super) fn swap(&mut self, swap: Swap) {
        if self.shutdown.is_some() || self.starting.as_ref().is_some_and(|starting| starting.swap.is_some()) {
            let text = if self.shutdown.is_some() { "the server is shutting down" } else { "a swap is in progress" };
            return self.reply(swap.client, &format!("not swapped: {text}\n"));
        }
        let executable = match Executable::at(&self.executable.path) {
            Ok(executable) => Rc::new(executable),
            Err(problem) => return self.on_swap_failed(swap, &problem),
        };
        self.watched = Watch::new(executable.stamp);
        if swap.if_changed && executable.is_same(&self.executable) {
            return;
        }
        self.systemd.reloading();
        // The new version also replaces a worker that was starting.
        if let Some(starting) = self.starting.take() {
            starting.worker.signal(rustix::process::Signal::KILL);
        }
        // An unchanged file is started, too: it reads its settings again.
        if let Err((error, swap)) = self.start_worker(&executable, Some(swap)) {
            self.on_swap_failed(swap.unwrap_or_default(), &format!("{}: {error}", executable.path.display()));
        }
    }

    pub(super) fn on_swapped(&mut self, swap: Swap) {
        let text = format!("version {} serves", self.executable.version());
        tracing::info!("swapped: {text}");
        self.swaps += 1;
        self.last_swap = Some((Instant::now(), Ok(text.clone())));
        self.systemd.ready(&format!("listens on {}", self.urls.join(" and ")));
        let outcome = if swap.upgrade_supervisor { upgrade::check_settings(self) } else { Ok(()) };
        let text = match &outcome {
            Ok(()) => format!("swapped: {text}\n"),
            Err(problem) => format!("swapped: {text}; the supervisor was not upgraded: {problem}\n"),
        };
        self.reply(swap.client, &text);
        if swap.upgrade_supervisor && outcome.is_ok() {
            upgrade::execute(self);
        }
    }

    pub(super) fn on_swap_failed(&mut self, swap: Swap, reason: &str) {
        let text = format!("{reason}; version {} keeps serving", self.executable.version());
        tracing::error!("not swapped: {text}");
        self.systemd.ready(&format!("not swapped: {reason}"));
        self.last_swap = Some((Instant::now(), Err(reason.to_owned())));
        self.reply(swap.client, &format!("not swapped: {text}\n"));
    }

    fn reply(&mut self, client: Option<UnixStream>, text: &str) {
        if let Some(client) = client {
            self.clients.reply(client, text);
        }
    }
}
