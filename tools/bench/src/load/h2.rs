//! The client for HTTP/2: the crate `h2` on a runtime of one thread; a task for each request that a connection may have
//! at once.
//!
//! The bytes that are counted are those of bodies: what heads take on the wire, compressed, `h2` does not say.
//!
//! Start reading at [`phase`]; a connection for each request is made in [`Shared::work`].

mod stream;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

use self::stream::{Connection, Failure, Way};
use super::client::{Client, Phase, Share};
use super::figures::Recorder;
use super::pace::Schedule;
use super::{ErrorKind, Figures, LoadError, Plan, RequestSpec, Target, Trust, Watch, Why};
use crate::{clock, interrupt};

const TICK: Duration = Duration::from_millis(20);
const TELL: Duration = Duration::from_millis(500);
const REST: Duration = Duration::from_millis(50);

/// The client.
pub(super) struct Engine<'a> {
    plan: &'a Plan,
    share: Share,
    connections: Rc<[Connection]>,
    /// Where the connections' tasks live; it goes before the runtime does.
    tasks: LocalSet,
    runtime: Runtime,
}

impl<'a> Engine<'a> {
    pub(super) fn new(plan: &'a Plan, share: Share) -> Result<Self, LoadError> {
        let way = Rc::new(Way::new(plan).map_err(|text| LoadError::new(Why::Unreachable(text)))?);
        let connections = (0..share.connections(plan)).map(|_| Connection::new(&way)).collect();
        Ok(Self { plan, share, connections, tasks: LocalSet::new(), runtime: runtime() })
    }
}

impl Client for Engine<'_> {
    fn phase(&mut self, phase: Phase, watch: &mut dyn Watch) -> Result<Figures, LoadError> {
        let (plan, share, connections) = (self.plan, self.share, &self.connections);
        self.tasks.block_on(&self.runtime, self::phase(plan, share, connections, phase, watch))
    }
}

/// Status, fields and body of one answer.
pub(super) type Whole = (u16, Vec<(String, String)>, Vec<u8>);

/// Asks once.
pub(super) fn fetch(target: &Target, spec: &RequestSpec, trust: &Trust, patience: Duration) -> Result<Whole, String> {
    let plan = Plan { trust: trust.clone(), requests: vec![spec.clone()], ..Plan::of(target.clone()) };
    LocalSet::new().block_on(&runtime(), async {
        let connection = Connection::new(&Rc::new(Way::new(&plan)?));
        let asked = tokio::time::timeout(patience, connection.fetch(0));
        asked.await.map_err(|_| format!("no answer in {patience:?}"))?.map_err(|failure| failure.text)
    })
}

fn runtime() -> Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime of one thread needs an epoll, which every Linux has")
}

/// What the tasks of a phase share.
struct Shared {
    recorder: RefCell<Recorder>,
    schedule: RefCell<Schedule>,
    /// One for each request that is due; only an open loop waits for it.
    due: Arc<Semaphore>,
    begun: Instant,
    issued: Cell<u64>,
    under_way: Cell<u64>,
    plan: Plan,
    share: Share,
    limit: u64,
}

impl Shared {
    /// The next request: what its latency counts from, and which it is.
    async fn next(&self) -> Option<(Instant, usize)> {
        let is_open = self.schedule.borrow().is_open();
        if is_open {
            self.due.acquire().await.ok()?.forget();
        }
        let now = Instant::now();
        let mut schedule = self.schedule.borrow_mut();
        let late = !is_open && now - self.begun >= schedule.time();
        if late || self.issued.get() >= self.limit {
            return None;
        }
        let (due, which) = schedule.peek(&self.plan.requests)?;
        schedule.advance();
        self.issued.set(self.issued.get() + 1);
        Some((if is_open { self.begun + due } else { now }, which))
    }

    /// One request after the other.
    async fn work(&self, connection: &Connection) {
        while let Some((since, which)) = self.next().await {
            self.under_way.set(self.under_way.get() + 1);
            let own = (!self.plan.reuse).then(|| connection.another());
            let asked = own.as_ref().unwrap_or(connection).ask(which);
            let asked = tokio::time::timeout(self.plan.timeout, asked).await;
            drop(own);
            self.under_way.set(self.under_way.get() - 1);
            let now = Instant::now();
            let failure = match asked {
                Ok(Ok((status, bytes))) => {
                    self.recorder.borrow_mut().answer(status, bytes, since, now);
                    continue;
                }
                Ok(Err(failure)) => failure,
                Err(_) => Failure::new(ErrorKind::Timeout, format!("no answer in {:?} (--timeout)", self.plan.timeout)),
            };
            self.recorder.borrow_mut().error(failure.kind, &failure.text, now);
            if matches!(failure.kind, ErrorKind::Connect | ErrorKind::Tls | ErrorKind::Closed) {
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// One load.
async fn phase(
    plan: &Plan,
    share: Share,
    connections: &Rc<[Connection]>,
    phase: Phase,
    watch: &mut dyn Watch,
) -> Result<Figures, LoadError> {
    let begun = Instant::now();
    let schedule = || Schedule::new(phase.pace, phase.time, share);
    let shared = Rc::new(Shared {
        recorder: RefCell::new(Recorder::new(begun, phase.time, share)),
        schedule: RefCell::new(schedule()),
        due: Arc::new(Semaphore::new(0)),
        begun,
        issued: Cell::new(0),
        under_way: Cell::new(0),
        plan: plan.clone(),
        share,
        limit: phase.count.map_or(u64::MAX, |count| share.part(count)),
    });
    let own = clock::thread_cpu();
    let mut tasks = JoinSet::new();
    for place in (0..plan.depth).flat_map(|_| 0..connections.len()) {
        let (shared, connections) = (Rc::clone(&shared), Rc::clone(connections));
        tasks.spawn_local(async move { shared.work(&connections[place]).await });
    }
    let is_open = shared.schedule.borrow().is_open();
    let stop = Arc::new(AtomicBool::new(false));
    if is_open {
        let (due, stop, schedule) = (Arc::clone(&shared.due), Arc::clone(&stop), schedule());
        let (requests, workers) = (plan.requests.clone(), plan.depth * connections.len());
        thread::spawn(move || call_out(&due, &stop, begun, schedule, &requests, workers));
    }
    let latest = begun + phase.time + plan.timeout;
    let end = if phase.drains || is_open { latest } else { begun + phase.time };
    let ended = watch_over(&shared, &mut tasks, end, watch).await;
    let own = clock::thread_cpu().saturating_sub(own);
    stop.store(true, Ordering::Relaxed);
    tasks.abort_all();
    outcome(&shared, ended, own)
}

/// Until all tasks are done, or the time is over.
async fn watch_over(
    shared: &Shared,
    tasks: &mut JoinSet<()>,
    end: Instant,
    watch: &mut dyn Watch,
) -> Result<Instant, LoadError> {
    let (mut tick, mut tell) = (Instant::now() + TICK, shared.begun + TELL);
    loop {
        let until = tick.min(end);
        match tokio::time::timeout_at(until.into(), tasks.join_next()).await {
            Ok(None) => return Ok(Instant::now()),
            Ok(Some(_)) => continue,
            Err(_) => {}
        }
        let now = Instant::now();
        tick = now + TICK;
        if now >= end {
            return Ok(now);
        }
        if interrupt::is_asked() {
            return Err(LoadError::new(Why::Interrupted));
        }
        if let Some(why) = shared.recorder.borrow().verdict(now) {
            return Err(LoadError::new(why));
        }
        if now >= tell {
            tell = now + TELL;
            watch.goes_on(shared.recorder.borrow_mut().figures(now));
        }
    }
}

fn outcome(shared: &Shared, ended: Result<Instant, LoadError>, own: Duration) -> Result<Figures, LoadError> {
    let now = Instant::now();
    let mut schedule = shared.schedule.borrow_mut();
    let under_way = shared.under_way.get();
    let unanswered =
        if schedule.is_open() { under_way + schedule.left(&shared.plan.requests, now - shared.begun) } else { 0 };
    let recorder = shared.recorder.replace(Recorder::new(now, TICK, shared.share));
    let end = match &ended {
        Ok(end) if schedule.has_a_rate() && shared.issued.get() < shared.limit => {
            (*end).max(shared.begun + schedule.time())
        }
        Ok(end) => *end,
        Err(_) => now,
    };
    let figures = recorder.finish(end, (under_way, unanswered), own);
    ended.map_err(|error| error.with(figures.clone()))?;
    Ok(figures)
}

/// Adds a permit when a request is due, and at the end one for each worker, who then finds nothing left.
///
/// It is a thread, because the timer of the runtime is rounded to milliseconds.
fn call_out(
    due: &Semaphore,
    stop: &AtomicBool,
    begun: Instant,
    mut schedule: Schedule,
    requests: &[RequestSpec],
    workers: usize,
) {
    while let Some((next, _)) = schedule.peek(requests).filter(|_| !stop.load(Ordering::Relaxed)) {
        let left = (begun + next).saturating_duration_since(Instant::now());
        if left.is_zero() {
            schedule.advance();
            due.add_permits(1);
        } else {
            thread::sleep(left.min(TICK));
        }
    }
    due.add_permits(workers);
}
