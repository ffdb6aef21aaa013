//! What people do with jobs and queues: on the page, and by the task `jobs`.

use skep::sql::{Query, query};

use crate::jobs::Jobs;

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Has a job run that waits or is a dead letter.
    Retry(i64),
    /// Has all dead letters run.
    RetryDead,
    Cancel(i64),
    Pause(String),
    Resume(String),
}

impl Act {
    /// `retry 17`, `retry dead`, `cancel 17`, `pause mail`, `resume mail`.
    pub(crate) fn parse(act: &str, of: &str, jobs: &Jobs) -> Result<Self, String> {
        let number = || of.parse().map_err(|_| format!("\"{of}\" is no number of a job"));
        let queue = || {
            let known: Vec<&str> = jobs.queues().into_iter().map(|(name, _)| name).collect();
            let unknown = || format!("there is no queue \"{of}\": there are {}", known.join(", "));
            if known.contains(&of) { Ok(of.to_owned()) } else { Err(unknown()) }
        };
        match act {
            "retry" if of == "dead" => Ok(Self::RetryDead),
            "retry" => number().map(Self::Retry),
            "cancel" => number().map(Self::Cancel),
            "pause" => queue().map(Self::Pause),
            "resume" => queue().map(Self::Resume),
            _ => Err(format!("\"{act}\" is neither retry, cancel, pause nor resume")),
        }
    }

    /// The statement that does it.
    pub(crate) fn statement(self, now: i64) -> Query<'static> {
        let query = match self {
            Self::Retry(id) => {
                let text =
                    "update skep_job set state = 0, at = ?, attempt = 0, crashes = 0 where id = ? and state in (0, 2)";
                query(text, (now, id))
            }
            Self::RetryDead => {
                query("update skep_job set state = 0, at = ?, attempt = 0, crashes = 0 where state = 2", now)
            }
            Self::Cancel(id) => query("delete from skep_job where id = ?", id),
            Self::Pause(queue) => query("insert into skep_job_pause (queue) values (?) on conflict do nothing", queue),
            Self::Resume(queue) => query("delete from skep_job_pause where queue = ?", queue),
        };
        query.own()
    }
}
