//! How the application is, asked of the processes that know it.
//!
//! The supervisor asks the parent, which runs nothing of the application. It asks each process that serves, and the one of the jobs, by a signal, and
//! they answer with a datagram. Where each request has a process of its own, those that wait know no more than initialisation did, and must stay as it left them:
//! a further process is forked to answer, and ends.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use skep::Site;

use crate::seat::{Seat, line};
use crate::server::{report_of_process, report_of_processes};

/// How long processes may take to answer; the supervisor waits for the parent a little longer.
const PATIENCE: Duration = Duration::from_millis(150);

/// How long one that answers waits for the parent to read what others have said.
const TURN: Duration = Duration::from_millis(100);

/// The signal that asks.
pub(super) const ASK: Signal = Signal::USR2;

/// A datagram has room for so much, and more: both forms of what one process says.
const LONGEST: usize = 192 << 10;

/// Between the parent and the processes that were forked from it.
#[derive(Debug)]
pub(super) struct Questions {
    ours: UnixDatagram,
    theirs: UnixDatagram,
    open: Option<Question>,
}

/// A question that is not answered yet.
#[derive(Debug)]
struct Question {
    number: u64,
    json: bool,
    asked: Vec<Pid>,
    said: Vec<String>,
    until: Instant,
}

impl Questions {
    pub(super) fn new() -> io::Result<Self> {
        let (ours, theirs) = UnixDatagram::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_write_timeout(Some(TURN))?;
        Ok(Self { ours, theirs, open: None })
    }

    /// Answers, in a process that was forked. One that cannot is one that did not say in time.
    pub(super) fn tell(&self, site: &Site) {
        let mut message = std::process::id().to_ne_bytes().to_vec();
        let text = report_of_process(site, false);
        message.extend(u32::try_from(text.len()).unwrap_or_default().to_ne_bytes());
        message.extend(text.as_bytes());
        message.extend(report_of_process(site, true).as_bytes());
        let _ = self.theirs.send(&message);
    }

    /// What is said too late is no answer to the next question.
    pub(super) fn forget_what_is_late(&mut self) {
        self.open = None;
        self.hear();
    }

    /// These processes have been asked. A question that was still open is given up: whoever asked it waits no more.
    pub(super) fn open(&mut self, number: u64, json: bool, asked: Vec<Pid>) {
        self.open = Some(Question { number, json, asked, said: Vec::new(), until: Instant::now() + PATIENCE });
    }

    /// Tells the supervisor, if all have answered or the time is up.
    pub(super) fn answer(&mut self, seat: &Seat) {
        if self.open.is_none() {
            return;
        }
        self.hear();
        let is_done = |question: &mut Question| question.asked.is_empty() || question.until <= Instant::now();
        let Some(question) = self.open.take_if(is_done) else { return };
        let silent: Vec<u32> = question.asked.iter().map(|pid| pid.as_raw_nonzero().get().cast_unsigned()).collect();
        let text = report_of_processes(&question.said, &silent, question.json);
        // There is room for it: whoever does not read this asks no more.
        let _ = (&seat.channel).write_all(line(&format!("status {} {text}", question.number)).as_bytes());
    }

    fn hear(&mut self) {
        let mut message = vec![0; if self.open.is_some() { LONGEST } else { 1 }];
        while let Ok(length) = self.ours.recv(&mut message) {
            let Some(question) = &mut self.open else { continue };
            let Some((pid, text, json)) = parse(&message[..length]) else { continue };
            let Some(at) = question.asked.iter().position(|asked| asked.as_raw_nonzero().get() == pid) else {
                continue;
            };
            question.asked.remove(at);
            question.said.push(if question.json { json } else { text });
        }
    }

    /// One that has ended says nothing more.
    pub(super) fn has_ended(&mut self, pid: Pid) {
        if self.open.is_some() {
            // Its last words may have arrived with its death.
            self.hear();
        }
        if let Some(question) = &mut self.open {
            question.asked.retain(|asked| *asked != pid);
        }
    }

    /// How long there is to wait for an answer, if one is waited for.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.open.as_ref().map(|question| question.until.saturating_duration_since(Instant::now()))
    }

    /// Where answers come from, if any are waited for.
    pub(super) fn answers(&self) -> Option<BorrowedFd<'_>> {
        self.open.is_some().then(|| self.ours.as_fd())
    }
}

/// Has a process say how it is. Whoever is gone answers nothing.
pub(super) fn ask(pid: Pid) {
    let _ = kill_process(pid, ASK);
}

fn parse(message: &[u8]) -> Option<(i32, String, String)> {
    let (pid, rest) = message.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (text, json) = rest.split_at_checked(usize::try_from(u32::from_ne_bytes(*length)).ok()?)?;
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((i32::from_ne_bytes(*pid), string(text), string(json)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_says_is_heard_once_and_for_the_question_that_is_open() {
        let site = skep::App::new().on_status(|_| vec![skep::status::Part::new("orders").value("waiting", 7_u64)]);
        let mut setup = skep::Setup::default();
        setup.temporary_database = true;
        let site = site.open(setup).unwrap();
        let mut questions = Questions::new().unwrap();
        let (us, nobody) = (rustix::process::getpid(), Pid::INIT);
        questions.tell(&site);
        questions.forget_what_is_late();
        questions.open(1, true, vec![us, nobody]);
        questions.hear();
        assert_eq!(questions.open.as_ref().unwrap().asked, [us, nobody], "that was too late");
        questions.tell(&site);
        questions.tell(&site);
        questions.hear();
        questions.has_ended(nobody);
        let question = questions.open.as_ref().unwrap();
        let said = format!("{{\"process\":{},\"name\":\"orders\",\"waiting\":7}}", std::process::id());
        assert_eq!((question.asked.len(), &*question.said), (0, &[said][..]));
    }
}
