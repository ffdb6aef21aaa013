//! Jobs by cron patterns, in a time zone, with the feature `cron`.
//!
//! The database has when each schedule has enqueued last. Who enqueues next changes that in the same transaction: of
//! any number of processes and machines, one does.

use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use skep::Result;
use skep::sql::{Transaction, query};

use crate::job::{Job, Priority};
use crate::jobs::Jobs;
use crate::schema::WAITING;
use crate::store::New;

/// The most runs that are enqueued at once for those that were missed.
const MOST: usize = 1000;

/// A schedule that is ahead by more than this, in milliseconds, goes on from now: the clock was set back. By less, no
/// moment comes twice (as cron(8) has it).
const AHEAD: i64 = 3 * 3_600_000;

/// Of [`Missed::Skip`], in milliseconds.
const LATE: i64 = 60_000;

/// What is done about runs of a [schedule](Jobs::cron) that were due while nothing ran, such as during a night without
/// power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missed {
    /// One run for all of them, the last one.
    #[default]
    RunOnce,
    /// None, unless it is at most a minute late.
    Skip,
    /// Each of them, a thousand at a time.
    RunEach,
}

pub(crate) struct Schedule {
    /// All of it: a schedule that was changed is another one, and begins with its next moment.
    name: String,
    kind: &'static str,
    pattern: Cron,
    zone: TimeZone,
    missed: Missed,
    payload: String,
}

impl Jobs {
    /// Enqueues a job by a cron pattern, in a time zone: `jobs![Nightly].cron("0 2 * * *", "Europe/Berlin", Nightly)`.
    /// The pattern has minute, hour, day of month, month and day of week (`MON-FRI`, `L`, `#2`), and perhaps seconds
    /// before them.
    ///
    /// Where clocks are put forward, a run at a time that does not exist is at the first moment after the gap; where an
    /// hour repeats, a run at a fixed time is once, and one of `*` in each hour. Of any number of processes and
    /// machines, one enqueues. The first run is the next moment after the first start;
    /// [`JobCx::due`](crate::JobCx::due) is the moment of the pattern.
    ///
    /// An application with an invalid pattern or an unknown time zone does not start.
    #[must_use]
    pub fn cron<J: Job>(self, pattern: &str, zone: &str, job: J) -> Self {
        self.cron_missed(pattern, zone, Missed::default(), job)
    }

    /// The same, with what is done about runs that were missed.
    #[must_use]
    pub fn cron_missed<J: Job>(mut self, pattern: &str, zone: &str, missed: Missed, job: J) -> Self {
        match Schedule::new(pattern, zone, missed, &job) {
            Ok(schedule) if self.kinds.contains_key(J::KIND) => self.schedules.push(schedule),
            Ok(_) => {
                let name = std::any::type_name::<J>();
                self.problems.push(format!("Jobs::cron: `{name}` is not among jobs![...]"));
            }
            Err(problem) => self.problems.push(format!("Jobs::cron({pattern:?}, {zone:?}, ..): {problem}")),
        }
        self
    }

    /// When the next schedule is due.
    pub(crate) fn next_schedule(&self, now: i64) -> Option<i64> {
        self.schedules.iter().filter_map(|schedule| schedule.next(now)).min()
    }
}

impl Schedule {
    fn new<J: Job>(pattern: &str, zone: &str, missed: Missed, job: &J) -> Result<Self, String> {
        let cron: Cron = pattern.parse().map_err(|error| format!("{error}"))?;
        let tz = TimeZone::get(zone).map_err(|error| format!("{error}"))?;
        let payload = serde_json::to_string(job).map_err(|error| error.to_string())?;
        let name = format!("{} {pattern} {zone} {payload}", J::KIND);
        Ok(Self { name, kind: J::KIND, pattern: cron, zone: tz, missed, payload })
    }

    /// Enqueues what has become due since the last time.
    pub(crate) async fn enqueue_due(&self, db: &Transaction, jobs: &Jobs, now: i64) -> Result<()> {
        let select = query("select last from skep_job_schedule where name = ?", &self.name).own();
        let Some(last) = db.one::<i64>(select).await? else {
            let insert = "insert into skep_job_schedule (name, last) values (?, ?) on conflict do nothing";
            db.execute(query(insert, (&self.name, now)).own()).await?;
            return Ok(());
        };
        let update = "update skep_job_schedule set last = ? where name = ? and last = ?";
        let is_ahead = last.saturating_sub(now) > AHEAD;
        // What is due in this very minute is not lost.
        let runs = self.runs(if is_ahead { now - LATE } else { last }, now);
        let Some(newest) = runs.last().copied().or(is_ahead.then_some(now)) else { return Ok(()) };
        if db.execute(query(update, (newest, &self.name, last)).own()).await?.rows == 0 {
            return Ok(());
        }
        for at in self.wanted(&runs, now) {
            let queue = jobs.kinds.get(self.kind).map_or("default", |kind| kind.queue);
            let priority = Priority::Normal.number();
            let (payload, unique, batch, state) = (&*self.payload, None, None, WAITING);
            let new = New { kind: self.kind, queue, priority, at: *at, created: now, payload, unique, batch, state };
            db.one(jobs.store().insert(&new)).await?;
        }
        Ok(())
    }

    /// Of the runs that are due, those that the policy wants.
    fn wanted<'r>(&self, runs: &'r [i64], now: i64) -> &'r [i64] {
        let last = &runs[runs.len().saturating_sub(1)..];
        match self.missed {
            Missed::RunEach => runs,
            Missed::RunOnce => last,
            Missed::Skip if last.iter().all(|run| now - run <= LATE) => last,
            Missed::Skip => &[],
        }
    }

    /// The moments after `last`, until now.
    fn runs(&self, last: i64, now: i64) -> Vec<i64> {
        let mut runs = Vec::new();
        let mut from = last;
        while let Some(next) = self.next(from).filter(|next| *next <= now) {
            runs.push(next);
            from = next;
            if runs.len() == MOST {
                // Of a pause that long, only some want all of them.
                if self.missed != Missed::RunEach {
                    runs.extend(self.previous(now));
                }
                break;
            }
        }
        runs
    }

    fn next(&self, after: i64) -> Option<i64> {
        let next = self.pattern.find_next_occurrence(&self.zoned(after)?, false).ok()?;
        Some(next.timestamp().as_millisecond())
    }

    fn previous(&self, now: i64) -> Option<i64> {
        let previous = self.pattern.find_previous_occurrence(&self.zoned(now)?, true).ok()?;
        Some(previous.timestamp().as_millisecond())
    }

    fn zoned(&self, millis: i64) -> Option<Zoned> {
        Some(Timestamp::from_millisecond(millis).ok()?.to_zoned(self.zone.clone()))
    }
}
