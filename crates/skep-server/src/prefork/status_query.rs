//! Collecting the status of the application from the processes that know it.
//!
//! The supervisor asks the parent, which runs nothing of the application. The parent signals each process that serves,
//! and the one that runs jobs; they reply with a datagram. With a process per request, waiting processes know no more
//! than initialisation did, and must stay unused: the parent forks one more process, which reports and exits.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use skep::Site;
use skep_observe::app_status;

use crate::channel::encode_line;
use crate::handoff::WorkerHandoff;

/// How long processes may take to report; the supervisor waits a little longer for the parent.
const REPORT_TIMEOUT: Duration = Duration::from_millis(150);

/// How long a process waits for room in the socket.
const SEND_TIMEOUT: Duration = Duration::from_millis(100);

/// The maximal size of a datagram: both forms of one report.
const MAX_REPORT: usize = 192 << 10;

/// The socket between the parent and its children, and the queries that wait for reports.
#[derive(Debug)]
pub(super) struct StatusQuery {
    ours: UnixDatagram,
    theirs: UnixDatagram,
    pending: Vec<Pending>,
}

/// A query that is not complete.
#[derive(Debug)]
struct Pending {
    id: u64,
    json: bool,
    missing: Vec<Pid>,
    reports: Vec<String>,
    deadline: Instant,
}

impl StatusQuery {
    pub(super) fn new() -> io::Result<Self> {
        let (ours, theirs) = UnixDatagram::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_write_timeout(Some(SEND_TIMEOUT))?;
        Ok(Self { ours, theirs, pending: Vec::new() })
    }

    /// Reports from a child. A child that cannot send counts as one that did not report in time.
    pub(super) fn report(&self, site: &Site) {
        let mut message = std::process::id().to_ne_bytes().to_vec();
        let text = app_status::of_process(site, false);
        message.extend(u32::try_from(text.len()).unwrap_or_default().to_ne_bytes());
        message.extend(text.as_bytes());
        message.extend(app_status::of_process(site, true).as_bytes());
        let _ = self.theirs.send(&message);
    }

    /// These processes have been signalled.
    pub(super) fn start(&mut self, id: u64, json: bool, processes: Vec<Pid>) {
        let deadline = Instant::now() + REPORT_TIMEOUT;
        self.pending.push(Pending { id, json, missing: processes, reports: Vec::new(), deadline });
    }

    /// Sends the supervisor each query that is complete or whose time is up.
    pub(super) fn finish(&mut self, handoff: &WorkerHandoff) {
        if self.pending.is_empty() {
            return;
        }
        self.receive();
        let now = Instant::now();
        let is_done = |query: &mut Pending| query.missing.is_empty() || query.deadline <= now;
        for query in self.pending.extract_if(.., is_done) {
            let silent: Vec<u32> = query.missing.iter().map(|pid| pid.as_raw_nonzero().get().cast_unsigned()).collect();
            let text = app_status::of_processes(&query.reports, &silent, query.json);
            // If the supervisor does not read, it sends no further query either.
            let _ = (&handoff.channel).write_all(encode_line(&format!("status {} {text}", query.id)).as_bytes());
        }
    }

    /// Takes the reports that have arrived. Those that no pending query waits for are dropped.
    pub(super) fn receive(&mut self) {
        let mut message = vec![0; if self.pending.is_empty() { 1 } else { MAX_REPORT }];
        while let Ok(length) = self.ours.recv(&mut message) {
            let Some((pid, text, json)) = parse(&message[..length]) else { continue };
            for query in &mut self.pending {
                let at = query.missing.iter().position(|missing| missing.as_raw_nonzero().get() == pid);
                if let Some(at) = at {
                    query.missing.remove(at);
                    query.reports.push(if query.json { json.clone() } else { text.clone() });
                }
            }
        }
    }

    /// This child has exited and will not report.
    pub(super) fn on_exit(&mut self, pid: Pid) {
        if !self.pending.is_empty() {
            // Its report may have arrived together with its exit.
            self.receive();
        }
        self.pending.iter_mut().for_each(|query| query.missing.retain(|missing| *missing != pid));
    }

    /// The time until the next deadline.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let deadline = self.pending.iter().map(|query| query.deadline).min()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// The socket to poll, while a query is pending.
    pub(super) fn socket(&self) -> Option<BorrowedFd<'_>> {
        (!self.pending.is_empty()).then(|| self.ours.as_fd())
    }
}

fn parse(message: &[u8]) -> Option<(i32, String, String)> {
    let (pid, rest) = message.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (text, json) = rest.split_at_checked(usize::try_from(u32::from_ne_bytes(*length)).ok()?)?;
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((i32::from_ne_bytes(*pid), string(text), string(json)))
}

#[cfg(test)]
#[path = "../../tests/unit/prefork/status_query.rs"]
mod tests;
