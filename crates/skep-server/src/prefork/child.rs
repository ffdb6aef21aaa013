//! A forked process: everything that must not be shared with the parent is created here.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use skep_observe::log::Logs;
use tokio::sync::watch;

use super::Common;
use crate::assembly::worker;
use crate::background::Background;
use crate::connection::RequestBudget;
use crate::handoff::SlotRef;
use crate::jobs::Jobs;
use crate::resources::max_connections;
use crate::sys;
use crate::worker::{ConnectionLimit, ProcessWorker};
use crate::worker_state::WorkerState;

/// An internal error (`EX_SOFTWARE`).
const INTERNAL_ERROR: i32 = 70;

/// A process that serves. Returns its exit code.
pub(super) fn serve(
    common: &mut Common<'_>,
    logs: &Logs,
    parent: u32,
    slot: usize,
    request_quota: u64,
    wakeup: &OwnedFd,
) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGQUIT]).and_then(|signals| {
        logs.start_own();
        let single = common.config.is_process_per_request();
        if !single {
            common.handoff.child_title(slot, "ready");
            logs.use_thread(Some(common.last_lines.areas(slot)));
        }
        let metrics = common.counting.as_ref().map(|counting| counting.recorder(slot));
        let slot = SlotRef::new(&common.handoff.scoreboard, slot);
        let config = common.config;
        // Dropping the listeners here closes this process's copies only.
        let listeners = std::mem::take(&mut common.listeners);
        let (_sender, state) = watch::channel(WorkerState::Serving);
        let most = if single { 1 } else { max_connections(config) };
        let limit = ConnectionLimit::new(most, &config.limits);
        let tls = common.tls.clone();
        let mut worker = worker(config, &common.site, listeners, tls, logs, limit, state, Some(slot.clone()), metrics);
        worker.budget = RequestBudget::new(config.concurrency, request_quota);
        let scoreboard = &common.handoff.scoreboard;
        let low = config.min_spare.max(config.max_spare / 2);
        let on_connection = || {
            // With several requests per process, the parent checks often enough while processes are busy.
            let is_free = |slot: &&sys::scoreboard::Slot| slot.is_claimed() && slot.busy.load(Ordering::Relaxed) == 0;
            if single && scoreboard.slots().iter().filter(is_free).count() < low {
                let _ = rustix::io::write(wakeup, &1_u64.to_ne_bytes());
            }
        };
        let report = || common.status_query.report(&common.site);
        ProcessWorker { worker, signals, slot_ref: slot, single }.run(on_connection, &report)
    });
    finish(logs, result)
}

/// The process that runs jobs.
pub(super) fn run_jobs(common: &mut Common<'_>, logs: &Logs, parent: u32) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2]).and_then(|signals| {
        logs.start_own();
        common.listeners.clear();
        sys::process::set_title("skep: jobs");
        logs.use_thread(Some(common.last_lines.areas(common.handoff.spec.slots)));
        let background = common.config.caches_need_a_runtime().then(Background::start).transpose()?;
        let jobs = Jobs::start(&common.site, background, common.config.grace)?;
        while !wait_for_exit(&signals, || common.status_query.report(&common.site)) {}
        jobs.finish(common.config.grace);
        Ok(())
    });
    finish(logs, result)
}

/// Waits for a signal. False if it only requested a report.
fn wait_for_exit(signals: &OwnedFd, report: impl Fn()) -> bool {
    let mut fds = [rustix::event::PollFd::new(signals, rustix::event::PollFlags::IN)];
    // EINTR: a signal has arrived.
    let _ = rustix::event::poll(&mut fds, None);
    let mut exits = false;
    for signal in sys::signals::received(signals) {
        if signal == libc::SIGUSR2 {
            report();
        } else {
            exits = true;
        }
    }
    exits
}

/// A process that only reports the status of the application.
pub(super) fn report_status(common: &mut Common<'_>, logs: &Logs, parent: u32) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2]).map(|_signals| {
        common.listeners.clear();
        common.status_query.report(&common.site);
    });
    finish(logs, result)
}

/// Gives the process signal handling of its own; it is asked to exit when its parent exits.
fn begin(parent: u32, signals: &[i32]) -> io::Result<OwnedFd> {
    sys::signals::reset(libc::SIGCHLD)?;
    let pipe = sys::signals::catch(signals)?;
    sys::process::die_with_parent(parent)?;
    sys::process::unblock_signals()?;
    Ok(pipe)
}

fn finish(logs: &Logs, result: io::Result<()>) -> i32 {
    let code = match result {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(%error, "a forked process failed");
            INTERNAL_ERROR
        }
    };
    logs.finish();
    code
}
