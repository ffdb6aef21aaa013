//! Draining one worker, or one of its processes: it accepts nothing more, finishes its requests, and is replaced.

use std::fmt;
use std::str::FromStr;

use super::Supervisor;
use super::worker_handle::WorkerHandle;
use crate::channel::Command;
use crate::config::Model;

/// `3`: a worker; `3.2`: with `prefork`, one of its processes. The titles of processes and the status have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkerName {
    pub(crate) worker: u32,
    pub(crate) process: Option<u32>,
}

impl Supervisor {
    /// Returns what happens now, or why nothing does.
    pub(super) fn drain(&mut self, name: WorkerName) -> Result<String, String> {
        if self.shutdown.is_some() {
            return Err("the server is shutting down, and drains all workers".to_owned());
        }
        let serving = self.serving.as_ref().filter(|worker| worker.number == name.worker);
        let serving = serving.ok_or_else(|| self.why_not_serving(name.worker))?;
        let Some(process) = name.process else { return self.drain_worker(name.worker) };
        if self.config.mpm != Model::Prefork {
            return Err(format!("with mpm = thread, a worker drains as a whole: drain {}", name.worker));
        }
        let slots = || serving.scoreboard.slots().iter().zip(1..).filter(|(slot, _)| slot.is_claimed());
        if !slots().any(|(_, number)| number == process) {
            let there: Vec<_> = slots().map(|(_, number)| format!("{}.{number}", name.worker)).collect();
            return Err(format!("worker {} has no process {name}: it has {}", name.worker, there.join(", ")));
        }
        serving.send(&Command::Drain { process });
        Ok(format!("draining process {name}: it finishes its requests, and another one takes its place"))
    }

    fn drain_worker(&mut self, worker: u32) -> Result<String, String> {
        if let Some(starting) = &self.starting {
            return Err(format!("worker {} is starting, and replaces it anyway", starting.worker.number));
        }
        self.replace().map_err(|error| format!("its successor cannot be started: {error}"))?;
        self.replaced += 1;
        tracing::info!("worker {worker} is drained on request");
        Ok(format!("draining worker {worker}: worker {} takes over as soon as it is ready", self.last_number))
    }

    fn why_not_serving(&self, number: u32) -> String {
        if self.retiring.iter().any(|worker| worker.number == number) {
            return format!("worker {number} is draining already");
        }
        if self.starting.as_ref().is_some_and(|starting| starting.worker.number == number) {
            return format!("worker {number} is starting: it has no request yet");
        }
        let serves = |worker: &WorkerHandle| format!("worker {} serves", worker.number);
        let serving = self.serving.as_ref().map_or_else(|| "no worker serves now".to_owned(), serves);
        format!("there is no worker {number}: {serving}")
    }
}

impl FromStr for WorkerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let parsed = match text.split_once('.') {
            None => number(text).map(|worker| Self { worker, process: None }),
            Some((worker, process)) => {
                number(worker).zip(number(process)).map(|(worker, process)| Self { worker, process: Some(process) })
            }
        };
        parsed.ok_or_else(|| {
            format!("invalid worker \"{text}\": expected its number in the status, such as 3, or with mpm = prefork that of a process, such as 3.2")
        })
    }
}

impl fmt::Display for WorkerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            None => write!(f, "{}", self.worker),
            Some(process) => write!(f, "{}.{process}", self.worker),
        }
    }
}
