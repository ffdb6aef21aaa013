//! A process that was forked: everything that must not be shared is made here.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use tokio::sync::watch;

use super::Common;
use crate::background::Background;
use crate::connection::Share;
use crate::jobs::Jobs;
use crate::log::Logs;
use crate::seat::Place;
use crate::server::{connections, worker};
use crate::sys;
use crate::worker::{Alone, Life, Room};

/// Something went wrong that is our fault (`EX_SOFTWARE`).
const BROKEN: i32 = 70;

/// The life of a process that serves. Gives back its exit code.
pub(super) fn serve(
    common: &mut Common<'_>,
    logs: &mut Logs,
    parent: u32,
    slot: usize,
    share: u64,
    bell: &OwnedFd,
) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGQUIT]).and_then(|signals| {
        if !common.is_single() {
            common.seat.title_of(slot, "ready");
            logs.use_thread();
        }
        try_serve(common, logs, slot, share, signals, bell)
    });
    if let Some(lessons) = &common.lessons
        && common.seat.board.slots()[slot].requests.load(Ordering::Relaxed) > 0
    {
        // If the parent does not hear of it, forks cost what they cost.
        let _ = lessons.tell();
    }
    end(logs, result)
}

fn try_serve(
    common: &mut Common<'_>,
    logs: &Logs,
    slot: usize,
    share: u64,
    signals: OwnedFd,
    bell: &OwnedFd,
) -> io::Result<()> {
    let place = Place::new(&common.seat.board, slot);
    let config = common.config;
    // Its own copy of them: whoever closes the last one refuses connections.
    let listeners = std::mem::take(&mut common.listeners);
    let (_life, watching) = watch::channel(Life::Serve);
    let room = Room::new(if common.is_single() { 1 } else { connections(config) });
    let mut worker =
        worker(config, &common.site, listeners, common.tls.clone(), logs, room, watching, Some(place.clone()));
    worker.share = Share::new(config.concurrency, share);
    let board = &common.seat.board;
    let (single, few) = (common.is_single(), config.min_spare.max(config.max_spare / 2));
    let on_first = || {
        // Others are looked at often enough while they are busy.
        if !single {
            return;
        }
        let is_free = |slot: &&sys::board::Slot| slot.is_taken() && slot.busy.load(Ordering::Relaxed) == 0;
        if board.slots().iter().filter(is_free).count() < few {
            let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
        }
    };
    let tell = || common.questions.tell(&common.site);
    Alone { worker, signals, place, single: common.is_single() }.run(on_first, &tell)
}

/// The life of the process that does what is to be done again and again.
pub(super) fn jobs(common: &mut Common<'_>, logs: &mut Logs, parent: u32) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2]).and_then(|signals| {
        common.listeners.clear();
        sys::process::set_title("skep: jobs");
        logs.use_thread();
        let background = common.config.caches.need_a_runtime.then(Background::start).transpose()?;
        let jobs = Jobs::start(&common.site, background)?;
        while !told_to_end(&signals, || common.questions.tell(&common.site)) {}
        jobs.finish(common.config.grace);
        Ok(())
    });
    end(logs, result)
}

/// Waits for a signal. False if it only asked something.
fn told_to_end(signals: &OwnedFd, tell: impl Fn()) -> bool {
    let mut wait = [rustix::event::PollFd::new(signals, rustix::event::PollFlags::IN)];
    // An interrupted wait is a signal.
    let _ = rustix::event::poll(&mut wait, None);
    let mut ends = false;
    for signal in sys::signals::arrived(signals) {
        if signal == libc::SIGUSR2 {
            tell();
        } else {
            ends = true;
        }
    }
    ends
}

/// The life of a process that only says how the application is.
pub(super) fn say(common: &mut Common<'_>, logs: &mut Logs, parent: u32) -> i32 {
    let result = begin(parent, &[libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2]).map(|_signals| {
        common.listeners.clear();
        common.questions.tell(&common.site);
    });
    end(logs, result)
}

/// Signals come here and not to the parent; when the parent is gone, this process ends.
fn begin(parent: u32, signals: &[i32]) -> io::Result<OwnedFd> {
    sys::signals::reset(libc::SIGCHLD)?;
    let pipe = sys::signals::catch(signals)?;
    sys::process::end_with(parent)?;
    sys::process::let_signals_in()?;
    Ok(pipe)
}

fn end(logs: &mut Logs, result: io::Result<()>) -> i32 {
    let code = match result {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(%error, "a process could not go on");
            BROKEN
        }
    };
    logs.finish();
    code
}
