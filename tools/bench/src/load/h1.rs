//! The client for HTTP/1.1: one thread, one epoll, a state machine for each connection.
//!
//! A request costs a write, a read and a share of a wait, as in wrk. In an open loop a timer of the kernel wakes it
//! when the next request is due: the timeouts of epoll are rounded to milliseconds. A busy one never waits: the process
//! that wakes a sleeper pays for it, and that would be the server.
//!
//! Start reading at [`Engine`]'s `phase`.

mod connection;
mod socket;

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use self::connection::{Connection, Failure, Sent};
use super::client::{Client, Phase, Share};
use super::figures::Recorder;
use super::pace::Schedule;
use super::target::Address;
use super::tls::Tls;
use super::{ErrorKind, Figures, LoadError, Plan, RequestSpec, Watch, Why};
use crate::{clock, interrupt};

/// Events taken from the kernel at once.
const BATCH: usize = 256;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// How often timeouts are looked for, at least.
const TICK: Duration = Duration::from_millis(20);

/// What a look that finds nothing takes at most. If it took longer, somebody else had the core.
const LOOK: Duration = Duration::from_micros(20);

/// How often the watcher is notified.
const TELL: Duration = Duration::from_millis(500);

/// How long a connection that cannot be made rests.
const REST: Duration = Duration::from_millis(50);

/// The key of the timer; connections count from 1.
const TIMER: u64 = 0;

/// What all connections share.
pub(super) struct EventLoop<'a> {
    epoll: OwnedFd,
    address: Address,
    tls: Option<Tls>,
    specs: &'a [RequestSpec],
    /// As they are written.
    requests: Vec<Vec<u8>>,
    /// Which of them are HEAD.
    heads: Vec<bool>,
    reuse: bool,
    largest: u64,
    buffer: Vec<u8>,
    recorder: Recorder,
}

/// The client.
pub(super) struct Engine<'a> {
    share: Share,
    plan: &'a Plan,
    shared: EventLoop<'a>,
    timer: OwnedFd,
    connections: Vec<Connection>,
    /// Connections that could take a request; each as often as it could.
    free: VecDeque<usize>,
    /// Connections that could not be made, and until when they rest.
    resting: VecDeque<(Instant, usize)>,
    schedule: Schedule,
    begun: Instant,
    issued: u64,
    limit: u64,
    /// How long a busy one found nothing to do.
    idle: Duration,
}

impl Client for Engine<'_> {
    /// One load, from idle connections.
    fn phase(&mut self, phase: Phase, watch: &mut dyn Watch) -> Result<Figures, LoadError> {
        self.begin(phase);
        let own = clock::thread_cpu();
        let drains = phase.drains || self.schedule.is_open();
        let (mut tick, mut tell) = (self.begun, self.begun + TELL);
        let ended = loop {
            let (now, issued) = (Instant::now(), self.issued);
            if self.may_send(now) {
                self.dispatch(now);
            }
            if self.is_over(now, drains) {
                break Ok(now);
            }
            if now >= tick {
                tick = now + TICK;
                if let Err(error) = self.look_after(now) {
                    break Err(error);
                }
            }
            if now >= tell {
                tell = now + TELL;
                watch.goes_on(self.shared.recorder.figures(now));
            }
            match self.wait(now) {
                // It may have sent something before it looked.
                Ok(0) if self.plan.busy && self.issued == issued => self.idle += now.elapsed().min(LOOK),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        let own = clock::thread_cpu().saturating_sub(own);
        self.outcome(ended, own)
    }
}

impl<'a> Engine<'a> {
    pub(super) fn new(plan: &'a Plan, share: Share) -> Result<Self, LoadError> {
        let unreachable = |text| LoadError::new(Why::Unreachable(text));
        let here = |error: rustix::io::Errno| LoadError::here("epoll", error);
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(here)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC);
        let timer = timer.map_err(here)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN).map_err(here)?;
        let begun = Instant::now();
        let shared = EventLoop {
            epoll,
            address: plan.target.resolve().map_err(unreachable)?,
            tls: Tls::of(&plan.target, &plan.trust, b"http/1.1").map_err(unreachable)?,
            specs: &plan.requests,
            requests: plan.requests.iter().map(|request| request.written(&plan.target, plan.reuse)).collect(),
            heads: plan.requests.iter().map(RequestSpec::is_head).collect(),
            reuse: plan.reuse,
            largest: plan.largest,
            buffer: vec![0; CHUNK],
            recorder: Recorder::new(begun, plan.time, share),
        };
        let connections = (1..=share.part(plan.connections as u64)).map(Connection::new).collect();
        let schedule = Schedule::new(plan.pace, plan.time, share);
        let (free, resting) = (VecDeque::new(), VecDeque::new());
        let (issued, limit, idle) = (0, u64::MAX, Duration::ZERO);
        Ok(Self { share, plan, shared, timer, connections, free, resting, schedule, begun, issued, limit, idle })
    }

    fn begin(&mut self, phase: Phase) {
        self.begun = Instant::now();
        self.schedule = Schedule::new(phase.pace, phase.time, self.share);
        self.shared.recorder = Recorder::new(self.begun, phase.time, self.share);
        (self.issued, self.idle) = (0, Duration::ZERO);
        self.limit = phase.count.map_or(u64::MAX, |count| self.share.part(count));
        self.resting.clear();
        for connection in &mut self.connections {
            if connection.under_way() > 0 {
                connection.fail();
            }
        }
        let places = (0..self.plan.depth).flat_map(|_| 0..self.connections.len());
        self.free = places.collect();
    }

    /// Whether requests may still be sent: in an open loop, those that were due in time are sent however late.
    fn may_send(&self, now: Instant) -> bool {
        self.schedule.is_open() || now - self.begun < self.schedule.time()
    }

    fn is_over(&self, now: Instant, drains: bool) -> bool {
        let elapsed = now - self.begun;
        let is_late = elapsed >= self.schedule.time();
        let all_sent = self.issued >= self.limit
            || if self.schedule.is_open() { self.schedule.peek(self.shared.specs).is_none() } else { is_late };
        if !drains && is_late || elapsed > self.schedule.time() + self.plan.timeout {
            return true;
        }
        all_sent && self.connections.iter().all(|connection| connection.under_way() == 0)
    }

    fn outcome(&mut self, ended: Result<Instant, LoadError>, own: Duration) -> Result<Figures, LoadError> {
        let now = Instant::now();
        let under_way = self.connections.iter().map(|connection| connection.under_way() as u64).sum::<u64>();
        let unanswered = if self.schedule.is_open() {
            under_way + self.schedule.left(self.shared.specs, now - self.begun)
        } else {
            0
        };
        let recorder = std::mem::replace(&mut self.shared.recorder, Recorder::new(now, TICK, self.share));
        let end = match &ended {
            // The last request of a constant rate is due one gap before the end, which belongs to it.
            Ok(end) if self.schedule.has_a_rate() && self.issued < self.limit => {
                (*end).max(self.begun + self.schedule.time())
            }
            Ok(end) => *end,
            Err(_) => now,
        };
        let mut figures = recorder.finish(end, (under_way, unanswered), own);
        figures.idle = self.idle.min(own);
        ended.map_err(|error| error.with(figures.clone()))?;
        Ok(figures)
    }

    /// Gives what is due to connections that are free.
    fn dispatch(&mut self, now: Instant) {
        while let Some(&place) = self.free.front() {
            let Some(sent) = self.next(now) else { return };
            self.free.pop_front();
            self.connections[place].push(sent, &self.shared);
            // With several requests at once on a connection they go out together.
            let is_last = self.free.front() != Some(&place);
            if is_last && let Err(failure) = self.connections[place].flush(&self.shared) {
                self.failed(place, &failure, now);
            }
        }
    }

    /// The next request, if one is due.
    fn next(&mut self, now: Instant) -> Option<Sent> {
        if self.issued >= self.limit {
            return None;
        }
        let (due, which) = self.schedule.peek(self.shared.specs)?;
        let since = if self.schedule.is_open() { self.begun + due } else { now };
        if since > now {
            return None;
        }
        self.schedule.advance();
        self.issued += 1;
        Some(Sent { since, at: now, which })
    }

    /// Sleeps until something comes, or only looks whether something did. How much it was.
    fn wait(&mut self, now: Instant) -> Result<usize, LoadError> {
        let mut tick = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !self.plan.busy {
            self.set_timer(now)?;
            tick.tv_nsec = i64::from(TICK.subsec_nanos());
        }
        let mut events = [MaybeUninit::<epoll::Event>::uninit(); BATCH];
        let ready = match epoll::wait(&self.shared.epoll, &mut events, Some(&tick)) {
            Ok((ready, _)) => ready,
            Err(rustix::io::Errno::INTR) => return Ok(0),
            Err(error) => return Err(LoadError::here("epoll", error)),
        };
        let mut found = 0;
        for event in ready {
            found += 1;
            let key = event.data.u64();
            if key == TIMER {
                let _ = rustix::io::read(&self.timer, &mut [0; 8]);
            } else if let Some(place) = usize::try_from(key - 1).ok().filter(|place| *place < self.connections.len()) {
                self.step(place, event.flags);
            }
        }
        Ok(found)
    }

    /// Has the kernel wake us when the next request is due, if a connection is free for it.
    fn set_timer(&self, now: Instant) -> Result<(), LoadError> {
        if !self.schedule.is_open() || self.free.is_empty() {
            return Ok(());
        }
        let Some((due, _)) = self.schedule.peek(self.shared.specs) else { return Ok(()) };
        let left = (self.begun + due).saturating_duration_since(now).max(Duration::from_nanos(1));
        if left >= TICK {
            return Ok(());
        }
        let it_value = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let set = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval, it_value });
        set.map(|_| ()).map_err(|error| LoadError::here("timerfd", error))
    }

    /// Lets one connection read and write, and gives it more to do.
    fn step(&mut self, place: usize, flags: EventFlags) {
        let connection = &mut self.connections[place];
        let before = connection.under_way();
        let outcome = connection.ready(flags, &mut self.shared);
        let answered = before - connection.under_way();
        if let Err(failure) = outcome {
            self.free.extend(std::iter::repeat_n(place, answered));
            return self.failed(place, &failure, Instant::now());
        }
        if answered > 0 {
            self.go_on(place, answered);
        }
    }

    /// A connection has room for this number of requests again.
    fn go_on(&mut self, place: usize, room: usize) {
        let now = Instant::now();
        let may = self.may_send(now);
        for left in (1..=room).rev() {
            // In an open loop, others may have waited longer for a request.
            let next = if may && (!self.schedule.is_open() || self.free.is_empty()) { self.next(now) } else { None };
            let Some(sent) = next else {
                self.free.extend(std::iter::repeat_n(place, left));
                break;
            };
            self.connections[place].push(sent, &self.shared);
        }
        let connection = &mut self.connections[place];
        if connection.under_way() > 0
            && let Err(failure) = connection.flush(&self.shared)
        {
            self.failed(place, &failure, now);
        }
    }

    /// Counts what a connection has lost, and lets it try again, at once or after a rest.
    fn failed(&mut self, place: usize, failure: &Failure, now: Instant) {
        let lost = self.connections[place].fail();
        // What comes unasked costs no request of ours, and is wrong all the same.
        let unasked = lost == 0 && failure.kind == ErrorKind::Malformed;
        for _ in 0..lost + usize::from(unasked) {
            self.shared.recorder.error(failure.kind, &failure.text, now);
        }
        if matches!(failure.kind, ErrorKind::Connect | ErrorKind::Tls) {
            self.resting.extend(std::iter::repeat_n((now + REST, place), lost));
        } else {
            self.free.extend(std::iter::repeat_n(place, lost));
        }
    }

    /// Timeouts, rests that are over, a server that is lost, a person who has seen enough.
    fn look_after(&mut self, now: Instant) -> Result<(), LoadError> {
        if interrupt::is_asked() {
            return Err(LoadError::new(Why::Interrupted));
        }
        while let Some((_, place)) = self.resting.pop_front_if(|(until, _)| *until <= now) {
            self.free.push_back(place);
        }
        for place in 0..self.connections.len() {
            let connection = &self.connections[place];
            if connection.oldest().is_some_and(|oldest| now - oldest.at > self.plan.timeout) {
                let what = if connection.is_open() { "answer" } else { "connection" };
                let text = format!("no {what} in {:?} (--timeout)", self.plan.timeout);
                self.failed(place, &Failure::new(ErrorKind::Timeout, text), now);
            }
        }
        self.shared.recorder.verdict(now).map_or(Ok(()), |why| Err(LoadError::new(why)))
    }
}
