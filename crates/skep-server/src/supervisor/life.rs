//! The lives of workers: how they begin, what keeps them, how they end.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use super::child::{self, Child, Start};
use super::executable::Executable;
use super::swap::Swap;
use super::{Coming, End, LAST_MOMENT, LOOK, Supervisor};
use crate::config::{Config, Model};
use crate::listener;
use crate::seat;
use crate::server::workers;
use crate::signals::Order;
use crate::sys;
use crate::worker::{LINGER, Life};

/// Of the time that a thread may hang, so much passes before it counts as hung; the rest is for its successor.
const HUNG_AFTER: f64 = 0.75;

/// A worker that has handled so many requests did what it was there for; what it died of was one of them.
const USEFUL: u64 = 100;

/// The same of one that has handled some, and served so many times as long as its start took: to start such workers again and again
/// takes no more than this part of a core.
const WORTH_ITS_START: u32 = 10;

/// An application that never was ready, and dies so often without a word, does not start (`EX_SOFTWARE`).
const TRIES: u32 = 5;
const NEVER_READY: u8 = 70;

impl Supervisor {
    /// Starts a worker if one died, or if it is the first.
    pub(super) fn start_what_is_due(&mut self) {
        let due = self.start_at.is_some_and(|at| at <= Instant::now());
        if due && self.end.is_none() && self.coming.is_none() {
            self.start_at = None;
            let executable = Rc::clone(&self.executable);
            if let Err((error, _)) = self.begin(&executable, None) {
                self.on_failed_start(None, &format!("cannot be started: {error}"), Duration::ZERO, true);
            }
        }
    }

    /// Starts a worker of this version, which takes over when it is ready. `careful`: no migration runs that the one that serves
    /// may not get on with.
    pub(super) fn begin(
        &mut self,
        executable: &Rc<Executable>,
        swap: Option<Swap>,
    ) -> Result<(), (io::Error, Option<Swap>)> {
        self.number += 1;
        let allowed = self.config.swap.allow_breaking_migration
            || swap.as_ref().is_some_and(|swap| swap.allow_breaking_migration);
        let slots = match self.config.mpm {
            Model::Thread => self.sockets.len(),
            // One more, since one of them does what is to be done again and again.
            Model::Prefork => self.config.max_workers.max(workers(&self.config)) + 1,
        };
        let start = Start {
            number: self.number,
            executable,
            sockets: &self.sockets,
            slots,
            careful: swap.is_some() && self.serving.is_some() && !allowed,
        };
        match Child::start(&start) {
            Ok(child) => {
                tracing::debug!("{child} starts");
                self.coming = Some(Coming { child, swap });
                Ok(())
            }
            Err(error) => Err((error, swap)),
        }
    }

    /// Reads what workers say.
    pub(super) fn hear(&mut self) {
        let Some(coming) = &mut self.coming else { return };
        for line in coming.child.hear() {
            if let Some(reason) = line.strip_prefix("failed ") {
                coming.child.failed = Some(seat::text(reason));
            }
            if let Some(name) = line.strip_prefix("name ") {
                coming.child.name = Some(name.to_owned());
            }
            if line == "ready" {
                return self.take_over();
            }
        }
    }

    /// Who was coming serves from now on, and nobody else.
    fn take_over(&mut self) {
        let Some(Coming { mut child, swap }) = self.coming.take() else { return };
        child.ready = Some(Instant::now());
        if let Some(old) = self.serving.take() {
            old.leave();
            self.let_go(old);
        }
        child.order(&Order::Life(Life::Serve));
        tracing::debug!("{child} serves, {} ms after its start", child.started.elapsed().as_millis());
        self.share = jittered(self.config.requests_per_worker);
        self.executable = Rc::clone(&child.executable);
        if let Some(name) = child.name.take() {
            self.name = name;
        }
        self.serving = Some(child);
        self.start_at = None;
        if !std::mem::replace(&mut self.was_ready, true) {
            self.announce();
        }
        if let Some(swap) = swap {
            self.swapped(swap);
        }
        // What that took of the program is not needed to wait.
        sys::pages::let_go_of_program();
    }

    /// It has been told to leave; it is killed if it does not.
    fn let_go(&mut self, mut old: Child) {
        old.deadline = Some(Instant::now() + self.config.grace + LINGER + LAST_MOMENT);
        self.going.push(old);
    }

    /// Collects the dead: workers, and as process 1 whoever else is left behind.
    pub(super) fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.on_death(pid, status);
        }
    }

    fn on_death(&mut self, pid: Pid, status: WaitStatus) {
        if let Some(at) = self.going.iter().position(|child| child.pid == pid) {
            let child = self.going.remove(at);
            if status.exit_status() != Some(0) && child.deadline.is_some_and(|deadline| deadline > Instant::now()) {
                tracing::warn!("{child}, which was leaving, died: {}", child::how_it_ended(status));
            }
        } else if self.coming.as_ref().is_some_and(|coming| coming.child.pid == pid) {
            // Its last words may have arrived with its death.
            self.hear();
            let Some(Coming { child, swap }) = self.coming.take() else { return self.on_death(pid, status) };
            let said = child.failed.clone();
            let reason =
                said.clone().unwrap_or_else(|| format!("died before it was ready: {}", child::how_it_ended(status)));
            self.on_failed_start(swap, &reason, child.started.elapsed(), said.is_none());
        } else if let Some(child) = self.serving.take_if(|child| child.pid == pid) {
            self.on_fall(&child, status);
        }
    }

    /// The one that serves is dead.
    fn on_fall(&mut self, child: &Child, status: WaitStatus) {
        self.deaths += 1;
        if self.end.is_some() {
            return;
        }
        let wait = self.backoff.died(child.started.elapsed(), is_useful(child));
        tracing::error!("{child} died: {}", child::how_it_ended(status));
        self.start_after(wait);
    }

    fn start_after(&mut self, wait: Duration) {
        if self.backoff.is_crash_loop() {
            tracing::error!(
                "crash loop: {} workers died young, one after the other; the next one starts in {:.1} s",
                self.backoff.deaths(),
                wait.as_secs_f32()
            );
        }
        self.start_at = Some(Instant::now() + wait);
    }

    fn on_failed_start(&mut self, swap: Option<Swap>, reason: &str, lived: Duration, silent: bool) {
        if self.end.is_some() {
            return;
        }
        if let Some(swap) = swap {
            self.not_swapped(swap, reason);
            // Nobody serves any more: the old version starts again.
            if self.serving.is_none() && self.start_at.is_none() {
                self.start_at = Some(Instant::now());
            }
            return;
        }
        self.deaths += 1;
        let wait = self.backoff.died(lived, false);
        if !self.was_ready && (!silent || self.backoff.deaths() >= TRIES) {
            let _ = writeln!(io::stderr(), "{reason}");
            self.end_in_order(if silent { NEVER_READY } else { 1 });
            return;
        }
        tracing::error!("a worker did not start: {reason}");
        self.start_after(wait);
    }

    /// Looks at what nobody tells.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        for child in self.children() {
            if child.deadline.is_some_and(|deadline| deadline <= now) {
                tracing::warn!("{child} did not end in time and is killed");
                child.signal(Signal::KILL);
            }
        }
        self.going
            .iter_mut()
            .for_each(|child| child.deadline = child.deadline.map(|at| if at <= now { now + LAST_MOMENT } else { at }));
        if let Some(end) = &mut self.end
            && end.deadline <= now
        {
            end.deadline = now + LAST_MOMENT;
            self.children().for_each(|child| child.signal(Signal::KILL));
        }
        if now < self.looked + LOOK {
            return;
        }
        self.looked = now;
        let mut well = self.serving.is_some();
        if let Some(serving) = &self.serving {
            self.backoff.lives(serving.ready.map_or(Duration::ZERO, |ready| ready.elapsed()));
            let reason = why_replace(serving, &self.config, self.share);
            if let Some(reason) = reason.filter(|_| self.coming.is_none() && self.end.is_none()) {
                tracing::info!("{serving} {reason}; another takes its place");
                well = self.replace().is_ok();
            }
        }
        self.check_start_time();
        self.watch();
        if well {
            self.systemd.alive();
        }
    }

    /// Another worker of the same version is to take over.
    fn replace(&mut self) -> io::Result<()> {
        let executable = Rc::clone(&self.executable);
        self.begin(&executable, None).map_err(|(error, _)| error)
    }

    fn check_start_time(&mut self) {
        let patience = self.config.start_timeout;
        let Some(coming) = &mut self.coming else { return };
        if coming.child.started.elapsed() > patience && coming.child.failed.is_none() {
            coming.child.failed = Some(format!("was not ready within {patience:?}"));
            coming.child.signal(Signal::KILL);
        }
    }

    /// Finishes what runs, and lets nobody in any more.
    pub(super) fn end_in_order(&mut self, code: u8) {
        if self.end.is_some() {
            return;
        }
        // Of a server whose worker never started, nothing runs.
        if self.children().next().is_some() {
            tracing::info!("finishing what runs");
        }
        self.systemd.stopping();
        self.sockets.clear();
        self.control = None;
        self.end = Some(End { code, deadline: Instant::now() + self.config.grace + LAST_MOMENT });
        self.tell_all(&Order::Life(Life::Drain));
        if let Some(coming) = &self.coming {
            coming.child.signal(Signal::KILL);
        }
    }

    /// Waits for nothing but the last lines of the log.
    pub(super) fn end_at_once(&mut self, code: u8) {
        self.sockets.clear();
        self.control = None;
        self.end = Some(End { code, deadline: Instant::now() + LAST_MOMENT / 2 });
        self.tell_all(&Order::Quit);
    }

    pub(super) fn tell_all(&self, order: &Order) {
        self.children().for_each(|child| child.order(order));
    }

    pub(super) fn reopen_logs(&self) {
        Order::Reopen(self.log_files.clone()).obey();
        self.tell_all(&Order::Reopen(self.log_files.clone()));
    }

    /// One process more; with `thread`, another worker takes over that has one thread more. Gives back what happens now.
    pub(super) fn add_worker(&mut self) -> Result<&'static str, String> {
        if self.config.mpm == Model::Prefork {
            self.tell_all(&Order::Add);
            return Ok("one more process");
        }
        if self.end.is_some() || self.coming.is_some() || self.serving.is_none() {
            return Err("not added: a worker starts or ends just now; try again when it has".into());
        }
        let sockets = self.sockets.first().into_iter().flatten();
        let sockets = sockets.map(|socket| listener::another(socket, self.config.backlog)).collect::<io::Result<_>>();
        self.sockets
            .push(sockets.map_err(|error| format!("not added: no further socket on the same address: {error}"))?);
        self.replace().map_err(|error| {
            self.sockets.pop();
            format!("not added: {error}")
        })?;
        Ok("one more thread: another worker takes over")
    }
}

/// What this worker died of says nothing of how workers begin.
fn is_useful(child: &Child) -> bool {
    let Some(ready) = child.ready else { return false };
    was_worth(ready - child.started, ready.elapsed(), child.requests())
}

/// Whether so many requests, in so long a time, were worth a start that took so long.
fn was_worth(start: Duration, served: Duration, requests: u64) -> bool {
    requests >= USEFUL || requests > 0 && served >= start * WORTH_ITS_START
}

/// Why this worker should not go on serving. With `prefork`, the parent asks this of its own.
fn why_replace(child: &Child, config: &Config, share: u64) -> Option<String> {
    if config.mpm == Model::Prefork {
        return None;
    }
    if let Some(thread) = config.hang_timeout.and_then(|patience| child.hung(patience.mul_f64(HUNG_AFTER))) {
        let process = child.pid.as_raw_nonzero().get();
        child::ask_for_stack(process, thread);
        return Some(format!("hangs: thread {thread} does not get on ({})", child::where_it_is(process, thread)));
    }
    if child.requests() >= share {
        return Some(format!("has handled {} requests", child.requests()));
    }
    if let Some(age) = config.max_age.filter(|age| child.ready.is_some_and(|ready| ready.elapsed() > *age)) {
        return Some(format!("is older than {age:?}"));
    }
    let memory = config.max_memory.and_then(|most| child.memory().filter(|memory| *memory > most))?;
    Some(format!("takes {} MiB", memory >> 20))
}

/// Give or take a tenth, so that not all are replaced at the same time. 0 is never.
pub(crate) fn jittered(requests: u64) -> u64 {
    if requests < 2 {
        return if requests == 0 { u64::MAX } else { 1 };
    }
    let tenth = requests / 10;
    // The standard library's hasher is seeded from the system's randomness.
    requests - tenth + RandomState::new().hash_one(requests) % (2 * tenth + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_served_longer_than_its_start_took_is_replaced_at_once_however_often() {
        let millis = Duration::from_millis;
        assert!(was_worth(millis(20), millis(200), 1), "a tenth of a core at the most goes into starts");
        assert!(!was_worth(millis(20), millis(199), 99));
        assert!(was_worth(millis(20), millis(1), 100));
        assert!(!was_worth(millis(20), millis(10_000), 0), "it did nothing");
    }

    #[test]
    fn a_share_of_requests_is_what_was_asked_for_give_or_take_a_tenth() {
        assert_eq!((jittered(0), jittered(1), jittered(5)), (u64::MAX, 1, 5));
        for _ in 0..100 {
            assert!((900..=1100).contains(&jittered(1000)));
        }
    }
}
