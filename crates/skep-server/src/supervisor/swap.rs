//! Another version takes over, or does not.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Instant;

use super::child::answer;
use super::executable::{Executable, Stamp};
use super::{Supervisor, upgrade};

/// A swap that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Swap {
    /// Who waits to hear how it ends.
    pub(super) askers: Vec<UnixStream>,
    pub(super) allow_breaking_migration: bool,
    /// The same bytes again are no reason.
    pub(super) if_changed: bool,
    /// When the workers are of the new version, the supervisor becomes it, too.
    pub(super) and_supervisor: bool,
}

/// What is known of the file on disk, if it is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    tried: Stamp,
    seen: Option<Stamp>,
}

impl Watch {
    pub(super) fn new(tried: Stamp) -> Self {
        Self { tried, seen: None }
    }

    /// True if the file has changed, and has then stayed as it is for one look.
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
    /// Looks whether there is another version on disk.
    pub(super) fn watch(&mut self) {
        if self.config.swap.watch && self.end.is_none() && self.watched.is_due(Stamp::at(self.executable.path())) {
            self.swap(Swap { if_changed: true, ..Swap::default() });
        }
    }

    /// Starts the version on disk. The one that serves goes on until that one is ready.
    pub(super) fn swap(&mut self, swap: Swap) {
        if self.end.is_some() || self.coming.as_ref().is_some_and(|coming| coming.swap.is_some()) {
            let text = if self.end.is_some() { "the server is ending" } else { "a swap is under way" };
            return swap.askers.into_iter().for_each(|asker| answer(asker, &format!("not swapped: {text}\n")));
        }
        let executable = match Executable::at(self.executable.path()) {
            Ok(executable) => Rc::new(executable),
            Err(problem) => return self.not_swapped(swap, &problem),
        };
        self.watched = Watch::new(executable.stamp());
        if swap.if_changed && executable.is_same(&self.executable) {
            return;
        }
        self.systemd.reloading();
        // One that starts in the place of a dead one is not needed any more.
        if let Some(coming) = self.coming.take() {
            coming.child.signal(rustix::process::Signal::KILL);
        }
        // The same version starts, too: it reads its settings anew.
        if let Err((error, swap)) = self.begin(&executable, Some(swap)) {
            self.not_swapped(swap.unwrap_or_default(), &format!("{}: {error}", executable.path().display()));
        }
    }

    pub(super) fn swapped(&mut self, swap: Swap) {
        let text = format!("version {} serves", self.executable.version());
        tracing::info!("swapped: {text}");
        self.last_swap = Some((Instant::now(), Ok(text.clone())));
        self.systemd.ready(&format!("listens on {}", self.urls.join(" and ")));
        let outcome = if swap.and_supervisor { upgrade::prepare(self) } else { Ok(()) };
        let text = match &outcome {
            Ok(()) => format!("swapped: {text}\n"),
            Err(problem) => format!("swapped: {text}; the supervisor stays as it is: {problem}\n"),
        };
        swap.askers.into_iter().for_each(|asker| answer(asker, &text));
        if swap.and_supervisor && outcome.is_ok() {
            upgrade::execute(self);
        }
    }

    pub(super) fn not_swapped(&mut self, swap: Swap, reason: &str) {
        let text = format!("{reason}; version {} goes on", self.executable.version());
        tracing::error!("not swapped: {text}");
        self.systemd.ready(&format!("not swapped: {reason}"));
        swap.askers.into_iter().for_each(|asker| answer(asker, &format!("not swapped: {text}\n")));
        self.last_swap = Some((Instant::now(), Err(reason.to_owned())));
    }
}
