//! The parent: it forks processes, and forks others in the place of those that end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};

use super::{Common, kid, questions};
use crate::log::Logs;
use crate::server::workers;
use crate::signals::Order;
use crate::supervisor::{Backoff, ask_for_stack, how_it_ended, jittered, memory, where_it_is};
use crate::sys::large_pages::LargePages;
use crate::sys::pinned::{Lessons, Pins};
use crate::sys::{self, board};
use crate::worker::{LINGER, Life};

/// A process that was forked, as its parent sees it.
#[derive(Debug)]
struct Kid {
    pid: Pid,
    role: Role,
    started: Instant,
    /// It was asked to end.
    leaving: bool,
    /// It is killed then.
    deadline: Option<Instant>,
}

/// What a process that was forked does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It serves, and has this slot of the board.
    Serves(usize),
    /// It does what is to be done again and again.
    Jobs,
    /// It says how the application is.
    Says,
}

pub(super) struct Parent<'s> {
    common: Common<'s>,
    logs: Logs,
    signals: OwnedFd,
    /// Rings when a process takes a request and few are free.
    bell: OwnedFd,
    orders: Vec<u8>,
    life: Life,
    kids: Vec<Kid>,
    /// How many serve, at the least.
    wanted: usize,
    backoff: Backoff,
    start_at: Instant,
    /// When the last one died that counted.
    died: Option<Instant>,
    looked: Instant,
    /// When those that ended were last collected.
    reaped: Instant,
    silent: bool,
    /// What each process writes, and a fork copies at once.
    pins: Option<Pins>,
    /// Code that is still to be copied: each process that is forked finds it at once then.
    code: Option<LargePages>,
}

/// Those that end within this time of others are collected with them: waking up for each costs more than collecting it.
const TOGETHER: Duration = Duration::from_millis(2);

/// How often those that serve are looked at, and how often while some have no time.
const LOOK: Duration = Duration::from_millis(500);
const BUSY_LOOK: Duration = Duration::from_millis(20);

/// Who has been busy for so many milliseconds does not count as free. Most requests are done long before.
const BUSY_AFTER: u64 = 10;

/// So long a process that hangs has to write where it is.
const LAST_WORDS: Duration = Duration::from_secs(1);

const HUNG_AFTER: f64 = 0.75;

const SIGNALS: [i32; 3] = [libc::SIGTERM, libc::SIGQUIT, libc::SIGCHLD];

impl<'s> Parent<'s> {
    pub(super) fn new(common: Common<'s>, logs: Logs) -> io::Result<Self> {
        for keyboard in [libc::SIGINT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2] {
            sys::signals::ignore(keyboard)?;
        }
        common.seat.channel.set_nonblocking(true)?;
        let now = Instant::now();
        Ok(Self {
            wanted: workers(common.config),
            common,
            logs,
            signals: sys::signals::catch(&SIGNALS)?,
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            orders: Vec::new(),
            life: Life::Wait,
            kids: Vec::new(),
            backoff: Backoff::default(),
            start_at: now,
            died: None,
            looked: now,
            reaped: now,
            silent: false,
            pins: None,
            code: None,
        })
    }

    /// Copies the code in use into large pages, once the first processes serve. It costs up to as much memory as there is code.
    pub(super) fn have_code_in_large_pages(&mut self) {
        match LargePages::of_this_program() {
            Ok(code) => self.code = Some(code),
            Err(error) => tracing::debug!(%error, "code stays in small pages"),
        }
    }

    pub(super) fn run(mut self) -> ExitCode {
        self.common.seat.parent_title("ready");
        self.common.seat.say("ready");
        loop {
            self.keep_enough();
            if self.life != Life::Wait {
                self.copy_some_code();
            }
            if self.life > Life::Serve && self.kids.is_empty() {
                return ExitCode::SUCCESS;
            }
            self.wait();
            for signal in sys::signals::arrived(&self.signals) {
                match signal {
                    libc::SIGTERM => self.end(Life::Drain),
                    libc::SIGQUIT => return self.end_at_once(),
                    _ => {}
                }
            }
            if self.hear() {
                return self.end_at_once();
            }
            self.reap();
            self.common.questions.answer(self.common.seat);
            self.look();
        }
    }

    fn wait(&self) {
        let is_busy = |kid| self.slot(kid).is_some_and(|slot| slot.busy.load(Ordering::Relaxed) != 0);
        let busy = self.kids.iter().any(|kid| is_busy(kid) || kid.deadline.is_some());
        let pause = if busy { BUSY_LOOK } else { LOOK };
        let timeout = match self.start_at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => pause,
            until => until.min(pause),
        };
        let timeout = self.common.questions.pause().map_or(timeout, |pause| pause.min(timeout));
        let timeout = if self.code.is_some() && self.life != Life::Wait { Duration::ZERO } else { timeout };
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        if let Some(answers) = self.common.questions.answers() {
            fds.push(PollFd::from_borrowed_fd(answers, PollFlags::IN));
        }
        if !self.silent {
            fds.push(PollFd::from_borrowed_fd(self.common.seat.channel.as_fd(), PollFlags::IN));
        }
        // An interrupted wait is a signal.
        let _ = match TOGETHER.checked_sub(self.reaped.elapsed()) {
            Some(rest) => {
                let timeout = timespec(timeout.min(rest));
                sys::process::holding(libc::SIGCHLD, || poll(&mut fds, Some(&timeout)))
            }
            None => Ok(poll(&mut fds, Some(&timespec(timeout)))),
        };
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    /// Forks as many as are missing.
    fn keep_enough(&mut self) {
        if self.life != Life::Serve || Instant::now() < self.start_at {
            return;
        }
        if !self.common.site.jobs().is_empty() && !self.kids.iter().any(|kid| kid.role == Role::Jobs) {
            self.fork(Role::Jobs);
        }
        let config = self.common.config;
        let serving = self.serving().count();
        let free = self.serving().filter(|kid| !self.is_busy(kid)).count();
        let (few, enough) = if self.common.is_single() {
            // Each request takes one, so that several at a time are forked before the last one is taken.
            (config.min_spare.max(config.max_spare / 2), config.max_spare.max(config.min_spare))
        } else {
            (config.min_spare, config.min_spare)
        };
        let missing = if free < few { enough - free } else { 0 };
        let missing = missing.max(self.wanted.saturating_sub(serving));
        for _ in 0..missing.min(config.max_workers.max(self.wanted).saturating_sub(serving)) {
            let slots = self.common.seat.board.slots();
            let taken = |slot| self.kids.iter().any(|kid| kid.role == Role::Serves(slot));
            let Some(slot) = (0..slots.len()).find(|slot| !taken(*slot)) else { return };
            self.fork(Role::Serves(slot));
        }
        if !self.common.is_single() && free > config.max_spare && serving > self.wanted {
            let spare = self.kids.iter_mut().rev().find(|kid| !kid.leaving && matches!(kid.role, Role::Serves(_)));
            if let Some(kid) = spare {
                leave(kid, config.grace);
            }
        }
    }

    /// One large page at a time: until it is copied, nothing is forked.
    fn copy_some_code(&mut self) {
        let Some(code) = &mut self.code else { return };
        if let Err(error) = code.copy_next() {
            tracing::debug!(%error, "some code stays in small pages");
        }
        if !code.are_left() {
            self.code = None;
        }
    }

    /// Those that serve and will go on.
    fn serving(&self) -> impl Iterator<Item = &Kid> {
        self.kids.iter().filter(|kid| matches!(kid.role, Role::Serves(_)) && !kid.leaving)
    }

    fn is_busy(&self, kid: &Kid) -> bool {
        let patience = if self.common.is_single() { 0 } else { BUSY_AFTER };
        let is_busy = |since: u64| since != 0 && board::now().saturating_sub(since) >= patience;
        self.slot(kid).is_some_and(|slot| is_busy(slot.busy.load(Ordering::Relaxed)))
    }

    fn slot(&self, kid: &Kid) -> Option<&board::Slot> {
        match kid.role {
            Role::Serves(slot) => self.common.seat.board.slots().get(slot),
            Role::Jobs | Role::Says => None,
        }
    }

    fn fork(&mut self, role: Role) -> Option<&mut Kid> {
        // Drawn here: all processes would draw the same.
        let share = jittered(self.common.config.requests_per_worker);
        let parent = std::process::id();
        let (common, logs, bell) = (&mut self.common, &mut self.logs, &self.bell);
        let forked = sys::process::fork(|| match role {
            Role::Serves(slot) => kid::serve(common, logs, parent, slot, share, bell),
            Role::Jobs => kid::jobs(common, logs, parent),
            Role::Says => kid::say(common, logs, parent),
        });
        match forked {
            Ok(pid) => {
                self.kids.push(Kid { pid, role, started: Instant::now(), leaving: false, deadline: None });
                self.kids.last_mut()
            }
            Err(error) => {
                tracing::error!(%error, "no process could be forked");
                self.start_at = Instant::now() + self.backoff.died(Duration::ZERO, false);
                None
            }
        }
    }

    /// Obeys what the supervisor orders. True if it wants the end at once.
    fn hear(&mut self) -> bool {
        let mut buffer = [0; 1024];
        loop {
            match rustix::io::read(&self.common.seat.channel, &mut buffer) {
                Ok(count @ 1..) => self.orders.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => break,
                Ok(_) | Err(_) => {
                    // The supervisor is gone.
                    if !std::mem::replace(&mut self.silent, true) {
                        self.end(Life::Drain);
                    }
                    break;
                }
            }
        }
        while let Some(end) = self.orders.iter().position(|byte| *byte == b'\n') {
            let said: Vec<u8> = self.orders.drain(..=end).collect();
            match std::str::from_utf8(&said[..end]).ok().and_then(Order::parse) {
                Some(Order::Life(Life::Serve)) => self.life = Life::Serve,
                Some(Order::Life(life)) => self.end(life),
                Some(Order::Quit) => return true,
                Some(Order::Add) => self.wanted += 1,
                None => {}
                Some(Order::Status { number, json }) => self.ask(number, json),
                Some(order) => {
                    order.obey();
                    // Those that are forked from now on have it from here.
                    let grace = self.common.config.grace;
                    self.kids.iter_mut().filter(|kid| !kid.leaving).for_each(|kid| leave(kid, grace));
                }
            }
        }
        false
    }

    /// Asks those who know how the application is.
    fn ask(&mut self, number: u64, json: bool) {
        let single = self.common.is_single();
        let knows = |kid: &&Kid| !kid.leaving && (kid.role == Role::Jobs || !single);
        let mut asked: Vec<Pid> = self.kids.iter().filter(knows).map(|kid| kid.pid).collect();
        self.common.questions.forget_what_is_late();
        asked.iter().copied().for_each(questions::ask);
        if single
            && self.life == Life::Serve
            && let Some(kid) = self.fork(Role::Says)
        {
            (kid.leaving, kid.deadline) = (true, Some(kid.started + LAST_WORDS));
            asked.push(kid.pid);
        }
        self.common.questions.open(number, json, asked);
    }

    fn end(&mut self, life: Life) {
        if self.life >= life {
            return;
        }
        self.life = life;
        // Whoever knocks from now on is refused, and does not wait for nothing.
        self.common.listeners.clear();
        let (signal, deadline) = (signal_of(life), Instant::now() + self.common.config.grace + LINGER + LAST_WORDS);
        for kid in &mut self.kids {
            kid.leaving = true;
            kid.deadline = Some(deadline);
            let _ = kill_process(kid.pid, signal);
        }
    }

    fn end_at_once(&self) -> ExitCode {
        for kid in &self.kids {
            let _ = kill_process(kid.pid, Signal::KILL);
        }
        ExitCode::from(131)
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            self.reaped = Instant::now();
            self.common.questions.has_ended(pid);
            if let Some(at) = self.kids.iter().position(|kid| kid.pid == pid) {
                let kid = self.kids.remove(at);
                self.on_end(&kid, status);
            }
        }
        self.learn();
    }

    /// Has forks copy what the first processes have written.
    fn learn(&mut self) {
        let Some(ranges) = self.common.lessons.as_mut().and_then(Lessons::hear) else { return };
        self.common.lessons = None;
        match Pins::new(&ranges) {
            Ok(pins) => self.pins = Some(pins),
            Err(error) => tracing::debug!(%error, "what each process writes is copied when it is written"),
        }
    }

    fn on_end(&mut self, kid: &Kid, status: WaitStatus) {
        let requests = self.slot(kid).map_or(0, |slot| slot.requests.load(Ordering::Relaxed));
        if let Some(slot) = self.slot(kid) {
            slot.free();
        }
        if status.exit_status() == Some(0) {
            if requests > 0 {
                // They begin well.
                self.backoff = Backoff::default();
            }
            self.backoff.lives(kid.started.elapsed());
            return;
        }
        tracing::error!(
            "process {} of worker {} died: {}",
            kid.pid,
            self.common.seat.plan.number,
            how_it_ended(status)
        );
        if kid.leaving {
            return;
        }
        // Those that were there when another one died tell nothing new of how a process begins.
        if self.died.is_some_and(|died| kid.started <= died) && requests == 0 {
            return;
        }
        self.died = Some(Instant::now());
        // One that died of what a request did is replaced at once, however often.
        let wait = self.backoff.died(kid.started.elapsed(), requests > 0);
        if self.backoff.is_crash_loop() {
            let deaths = self.backoff.deaths();
            tracing::error!(
                "crash loop: {deaths} processes died young; the next one starts in {:.1} s",
                wait.as_secs_f32()
            );
        }
        self.start_at = Instant::now() + wait;
    }

    /// Looks at what nobody tells.
    fn look(&mut self) {
        let now = Instant::now();
        for kid in &self.kids {
            if kid.deadline.is_some_and(|deadline| deadline <= now) {
                let _ = kill_process(kid.pid, Signal::KILL);
            }
        }
        if now < self.looked + LOOK {
            return;
        }
        self.looked = now;
        let reasons: Vec<_> =
            self.kids.iter().map(|kid| if kid.leaving { None } else { self.why_replace(kid) }).collect();
        let (number, grace) = (self.common.seat.plan.number, self.common.config.grace);
        for (kid, reason) in self.kids.iter_mut().zip(reasons) {
            let Some((reason, hangs)) = reason else { continue };
            tracing::info!("process {} of worker {number} {reason}; another takes its place", kid.pid);
            leave(kid, grace);
            if hangs {
                kid.deadline = Some(now + LAST_WORDS);
            }
        }
    }

    /// Why this process should not go on serving, and whether it hangs.
    fn why_replace(&self, kid: &Kid) -> Option<(String, bool)> {
        let (slot, config) = (self.slot(kid)?, self.common.config);
        let pid = kid.pid.as_raw_nonzero().get();
        if let Some(patience) = config.hang_timeout.map(|patience| patience.mul_f64(HUNG_AFTER)) {
            let silence = board::now().saturating_sub(slot.beat.load(Ordering::Relaxed));
            if slot.is_taken() && u128::from(silence) > patience.as_millis() {
                ask_for_stack(pid, pid.cast_unsigned());
                return Some((format!("hangs ({})", where_it_is(pid, pid.cast_unsigned())), true));
            }
        }
        if let Some(age) = config.max_age.filter(|age| kid.started.elapsed() > *age) {
            return Some((format!("is older than {age:?}"), false));
        }
        let memory = config.max_memory.and_then(|most| memory(pid).filter(|memory| *memory > most))?;
        Some((format!("takes {} MiB", memory >> 20), false))
    }
}

/// Asks a process to accept nothing more, and to finish what it began.
fn leave(kid: &mut Kid, grace: Duration) {
    kid.leaving = true;
    kid.deadline = Some(Instant::now() + grace + LINGER + LAST_WORDS);
    let _ = kill_process(kid.pid, signal_of(Life::Leave));
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() }
}

/// How a process is told.
fn signal_of(life: Life) -> Signal {
    if life == Life::Drain { Signal::TERM } else { Signal::USR1 }
}
