//! A load by several threads: each has its part of the connections and of the requests, and a core of its own.
//!
//! They meet three times: when all are warm, when measuring begins, and at its end, so that nobody closes connections
//! while the server is still watched. The calling thread measures nothing; it tells who watches how it goes.
//!
//! Start reading at [`run`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::client::{Phase, Share, client};
use super::{Figures, LoadError, Plan, Silent, Watch, Why};
use crate::core::Bound;

/// How often it is looked whether all are done.
const LOOK: Duration = Duration::from_millis(10);

/// How often the watcher is notified, in looks.
const TELL: u32 = 50;

/// What the threads share.
struct Meeting {
    /// All threads, and the one that called.
    barrier: Barrier,
    /// One at least could not be warmed up.
    failed: AtomicBool,
    done: AtomicUsize,
    /// What each has so far.
    told: Vec<Mutex<Option<Figures>>>,
}

/// Loads by as many threads as the plan has.
pub(super) fn run(plan: &Plan, watch: &mut dyn Watch) -> Result<Figures, LoadError> {
    let meeting = Meeting {
        barrier: Barrier::new(plan.threads + 1),
        failed: AtomicBool::new(false),
        done: AtomicUsize::new(0),
        told: (0..plan.threads).map(|_| Mutex::default()).collect(),
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| {
                let meeting = &meeting;
                scope.spawn(move || worker(plan, number, meeting))
            })
            .collect();
        if !plan.warm_up.is_zero() {
            watch.warms_up(plan.warm_up);
        }
        meeting.barrier.wait();
        if !meeting.failed.load(Ordering::Acquire) {
            watch.begins();
        }
        meeting.barrier.wait();
        look_on(plan, &meeting, watch);
        watch.ends();
        meeting.barrier.wait();
        let outcomes = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(LoadError::new(Why::Here("a thread of the load panicked".into()))))
        });
        merged(outcomes.collect())
    })
}

/// Tells who watches what all have so far, until all are done.
fn look_on(plan: &Plan, meeting: &Meeting, watch: &mut dyn Watch) {
    let mut looks = 0;
    while meeting.done.load(Ordering::Acquire) < plan.threads {
        thread::sleep(LOOK);
        looks += 1;
        if looks % TELL == 0 {
            let told = |slot: &Mutex<Option<Figures>>| slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
            watch.goes_on(&Figures::together(meeting.told.iter().filter_map(told).collect()));
        }
    }
}

/// What one thread does, whatever goes wrong: the others wait for it at each meeting.
fn worker(plan: &Plan, number: usize, meeting: &Meeting) -> Result<Figures, LoadError> {
    let core = plan.pin.get(number % plan.pin.len().max(1));
    let bound = core.map(|core| Bound::to(*core)).transpose().map_err(|error| LoadError::new(Why::Here(error)));
    let share = Share { number: number as u64, of: plan.threads as u64 };
    let ready = bound.and_then(|bound| Ok((bound, client(plan, share)?)));
    let ready = ready.and_then(|(bound, mut client)| {
        if let Some(phase) = Phase::warm_up(plan) {
            client.phase(phase, &mut Silent)?;
        }
        Ok((bound, client))
    });
    meeting.failed.fetch_or(ready.is_err(), Ordering::AcqRel);
    meeting.barrier.wait();
    meeting.barrier.wait();
    let outcome = ready.and_then(|(bound, mut client)| {
        if meeting.failed.load(Ordering::Acquire) {
            return Ok((Figures::empty(), bound, client));
        }
        let figures = client.phase(Phase::measured(plan), &mut Teller(&meeting.told[number]))?;
        Ok((figures, bound, client))
    });
    meeting.done.fetch_add(1, Ordering::AcqRel);
    meeting.barrier.wait();
    outcome.map(|(figures, ..)| figures)
}

/// Passes on what one thread has.
struct Teller<'a>(&'a Mutex<Option<Figures>>);

impl Watch for Teller<'_> {
    fn goes_on(&mut self, so_far: &Figures) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(so_far.clone());
    }
}

/// One outcome of all: the first error, with what all have measured.
fn merged(outcomes: Vec<Result<Figures, LoadError>>) -> Result<Figures, LoadError> {
    let (mut all, mut failure) = (Vec::new(), None);
    for outcome in outcomes {
        match outcome {
            Ok(figures) => all.push(figures),
            Err(mut error) => {
                all.extend(error.so_far.take().map(|figures| *figures));
                failure.get_or_insert(error);
            }
        }
    }
    let figures = Figures::together(all);
    failure.map_or(Ok(figures.clone()), |error| Err(error.with(figures)))
}
