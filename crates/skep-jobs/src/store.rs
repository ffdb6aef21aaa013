//! All statements about jobs, for SQLite and for PostgreSQL.
//!
//! Each concerns tables of this crate only, and invalidates no page. What changes a running job names its runner, and
//! what ends one also its attempt: who has lost a job to others changes nothing of it.

use std::fmt::Write as _;

use skep::sql::{self, Dialect, Query, Transaction, query, values};

use crate::job::{Priority, millis};
use crate::jobs::Jobs;
use crate::schema::{DEAD, WAITING};

/// The channel of PostgreSQL.
pub(crate) const CHANNEL: &str = "skep_job";

/// A job that is being run.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) queue: String,
    pub(crate) attempt: i64,
    pub(crate) at: i64,
    pub(crate) created: i64,
    pub(crate) payload: String,
}

type ClaimedRow = (i64, String, String, i64, i64, i64, String, i64);

/// A job to be enqueued.
#[derive(Clone, Copy)]
pub(crate) struct New<'n> {
    pub(crate) kind: &'n str,
    pub(crate) queue: &'n str,
    pub(crate) priority: i64,
    pub(crate) at: i64,
    pub(crate) created: i64,
    pub(crate) payload: &'n str,
    /// A key, and until when it holds.
    pub(crate) unique: Option<(&'n str, i64)>,
    /// The job at the end of its batch.
    pub(crate) batch: Option<i64>,
    /// Of a job at the end of a batch, `HELD`.
    pub(crate) state: i64,
}

/// What became of an attempt.
#[derive(Debug)]
pub(crate) enum Fate {
    Done,
    /// Its transaction has noted it.
    Noted,
    Again {
        at: i64,
        /// One that was put off has failed no attempt.
        failed: bool,
        error: Option<String>,
    },
    Dead(String),
}

/// An attempt that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) claimed: Claimed,
    pub(crate) fate: Fate,
}

/// The statements, for the kinds and queues of this program.
#[derive(Debug)]
pub(crate) struct Store {
    dialect: Dialect,
    claim: String,
    next: String,
    /// Of a `?` in `next`.
    places: usize,
}

fn own<'q, T>(text: &'q str, parameters: impl sql::Parameters<'q>) -> Query<'q, T> {
    query(text, parameters).own()
}

/// What becomes of the rows that are due.
const CLAIM: &str = "update skep_job set state = 1, attempt = attempt + 1, runner =";
const CLAIMED: &str =
    "where id in (select id from due) returning id, kind, queue, attempt, at, created, payload, priority";

/// Of each priority, only rows that are due are looked at. Parameters: queue, now, how many, runner.
fn claim_of_sqlite(kinds: &str) -> String {
    let of = |priority| {
        format!(
            "select * from (select id from skep_job where state = 0 and queue = ?1 and priority = {priority} and at <= ?2
             and kind in ({kinds}) order by at limit ?3)"
        )
    };
    let all: Vec<String> = (0..Priority::COUNT).map(of).collect();
    let all = all.join(" union all ");
    format!(
        "with due as materialized (select id from ({all}) where not exists (select 1 from skep_job_pause where queue = ?1)
         limit ?3) {CLAIM} ?4 {CLAIMED}"
    )
}

/// Parameters: queue, priority, now, queue, how many, runner.
fn claim_of_postgres(kinds: &str) -> String {
    format!(
        "with due as materialized (select id from skep_job where state = 0 and queue = ? and priority = ? and at <= ?
         and kind in ({kinds}) and not exists (select 1 from skep_job_pause where skep_job_pause.queue = ?)
         order by at limit ? for update of skep_job skip locked) {CLAIM} ? {CLAIMED}"
    )
}

impl Store {
    pub(crate) fn new(dialect: Dialect, jobs: &Jobs) -> Self {
        let kinds: Vec<String> = jobs.kinds.keys().map(|kind| format!("'{kind}'")).collect();
        let (kinds, queues) = (kinds.join(", "), jobs.queues());
        let claim = match dialect {
            Dialect::Sqlite => claim_of_sqlite(&kinds),
            Dialect::Postgres => claim_of_postgres(&kinds),
        };
        let mut next = String::new();
        for (nth, (queue, _)) in queues.iter().enumerate() {
            for priority in 0..Priority::COUNT {
                let union = if nth == 0 && priority == 0 { "select min(at) from (" } else { " union all " };
                let select = "select at from skep_job where state";
                // Writing into memory does not fail.
                _ = write!(
                    next,
                    "{union}select * from ({select} = {WAITING} and queue = '{queue}' and priority = {priority} and kind in ({kinds})
                     and at > ? order by at limit 1) as q{nth}_{priority}"
                );
            }
        }
        next.push_str(") as next");
        Self { dialect, claim, next, places: queues.len() * (0..Priority::COUNT).count() }
    }

    /// Inserts a job. PostgreSQL notifies those who run jobs once it is committed.
    pub(crate) fn insert<'q>(&self, new: &New<'q>) -> Query<'q, (i64, String)> {
        let text = match self.dialect {
            Dialect::Sqlite => {
                "insert into skep_job (kind, queue, priority, at, created, payload, batch, state) values (?, ?, ?, ?, ?, ?, ?, ?) returning id, ''"
            }
            Dialect::Postgres => {
                "with job as (insert into skep_job (kind, queue, priority, at, created, payload, batch, state) values (?, ?, ?, ?, ?, ?, ?, ?)
                 returning id) select id, cast(pg_notify('skep_job', '') as text) from job"
            }
        };
        own(text, (new.kind, new.queue, new.priority, new.at, new.created, new.payload, new.batch, new.state))
    }

    /// Has the job at the end of a batch run that has no others.
    pub(crate) async fn end_empty_batch(&self, db: &Transaction, id: i64) -> sql::Result<()> {
        db.execute(own("update skep_job set state = 0 where id = ?", id)).await.map(drop)
    }

    /// Has PostgreSQL notify those who run jobs, of what is no new job.
    pub(crate) fn notify(&self) -> Option<Query<'static, String>> {
        let text = "select cast(pg_notify('skep_job', '') as text)";
        (self.dialect == Dialect::Postgres).then(|| own(text, ()))
    }

    /// Notes a key. False if it is there and holds.
    pub(crate) async fn take_key(&self, db: &Transaction, key: &str, until: i64, now: i64) -> sql::Result<bool> {
        let text = "insert into skep_job_key (key, until) values (?, ?)
                    on conflict (key) do update set until = excluded.until where skep_job_key.until <= ?";
        Ok(db.execute(own(text, (key, until, now))).await?.rows > 0)
    }

    pub(crate) async fn remove_old_keys(&self, db: &Transaction, now: i64) -> sql::Result<()> {
        db.execute(own("delete from skep_job_key where until <= ?", now)).await.map(drop)
    }

    /// Claims jobs of a queue that are due, `most` at most, and counts the attempt.
    pub(crate) async fn claim(
        &self,
        db: &Transaction,
        (queue, most): (&str, usize),
        runner: i64,
        now: i64,
    ) -> sql::Result<Vec<Claimed>> {
        let mut rows: Vec<ClaimedRow> = Vec::new();
        // SQLite looks at all priorities at once, PostgreSQL locks what it looks at.
        let priorities = if self.dialect == Dialect::Sqlite { 1 } else { Priority::COUNT };
        for priority in 0..priorities {
            let left = i64::try_from(most - rows.len()).unwrap_or(i64::MAX);
            rows.extend(match self.dialect {
                _ if left == 0 => break,
                Dialect::Sqlite => db.all::<ClaimedRow>(own(&self.claim, (queue, now, left, runner))).await?,
                Dialect::Postgres => {
                    let parameters = (queue, priority, now, queue, left, runner);
                    db.all::<ClaimedRow>(own(&self.claim, parameters)).await?
                }
            });
        }
        // Both databases give them in any order.
        rows.sort_by_key(|row| (row.7, row.4, row.0));
        let claimed = rows.into_iter().map(|(id, kind, queue, attempt, at, created, payload, _)| Claimed {
            id,
            kind,
            queue,
            attempt,
            at,
            created,
            payload,
        });
        Ok(claimed.collect())
    }

    /// When the next job is due that is not yet.
    pub(crate) async fn next(&self, db: &sql::Local, now: i64) -> sql::Result<Option<i64>> {
        let parameters = std::iter::repeat_n(now, self.places);
        Ok(db.one::<Option<i64>>(own(&self.next, values(parameters))).await?.flatten())
    }

    /// Notes what became of attempts.
    pub(crate) async fn settle(&self, db: &Transaction, runner: i64, ended: &[Ended]) -> sql::Result<()> {
        let done = ended.iter().filter(|one| matches!(one.fate, Fate::Done)).map(|one| one.claimed.id);
        let (done, text) = (self.list(done), self.of_list("delete from skep_job where id", "and runner = ?"));
        if done.len() > 2 {
            db.execute(own(&text, (&done, runner))).await?;
        }
        for Ended { claimed, fate } in ended {
            let (state, at, failed, error) = match fate {
                Fate::Done | Fate::Noted => continue,
                Fate::Again { at, failed, error } => (WAITING, *at, *failed, error.as_deref()),
                Fate::Dead(error) => (DEAD, claimed.at, true, Some(&**error)),
            };
            let update = "update skep_job set state = ?, at = ?, attempt = ?, error = ?, runner = null, crashes = 0
                          where id = ? and runner = ? and attempt = ?";
            let attempt = if failed { claimed.attempt } else { claimed.attempt - 1 };
            db.execute(own(update, (state, at, attempt, error, claimed.id, runner, claimed.attempt))).await?;
        }
        Ok(())
    }

    /// Notes in the job's own transaction that it is done. False if it is not this attempt's any more.
    pub(crate) async fn finish(&self, db: &Transaction, runner: i64, claimed: &Claimed) -> sql::Result<bool> {
        let text = "delete from skep_job where id = ? and runner = ? and attempt = ?";
        Ok(db.execute(own(text, (claimed.id, runner, claimed.attempt))).await?.rows == 1)
    }

    /// The same for one that is to go on later.
    pub(crate) async fn snooze(&self, db: &Transaction, runner: i64, claimed: &Claimed, at: i64) -> sql::Result<bool> {
        let text =
            "update skep_job set state = 0, at = ?, attempt = attempt - 1, error = null, runner = null, crashes = 0
                    where id = ? and runner = ? and attempt = ?";
        Ok(db.execute(own(text, (at, claimed.id, runner, claimed.attempt))).await?.rows == 1)
    }

    /// Says that this runner lives until then, and for how long that is.
    pub(crate) async fn lease(&self, db: &Transaction, runner: i64, until: i64, lease: i64) -> sql::Result<()> {
        let text = "insert into skep_job_runner (id, until, lease) values (?, ?, ?) on conflict (id) do update set until =
                    case when excluded.until > skep_job_runner.until then excluded.until else skep_job_runner.until + 1 end";
        db.execute(own(text, (runner, until, lease))).await.map(drop)
    }

    /// The same for one that has a lease: it changes, also where the clock was set back. False if others have taken its
    /// jobs, because it was late.
    pub(crate) async fn renew(&self, db: &Transaction, runner: i64, until: i64) -> sql::Result<bool> {
        let text = "update skep_job_runner set until = case when until < ? then ? else until + 1 end where id = ?";
        Ok(db.execute(own(text, (until, until, runner))).await?.rows == 1)
    }

    /// The leases of others: of whom, until when, and for how long.
    pub(crate) async fn leases(&self, db: &sql::Local, runner: i64) -> sql::Result<Vec<(i64, i64, i64)>> {
        db.all(own("select id, until, lease from skep_job_runner where id <> ?", runner)).await
    }

    /// Those that have ended by the clock.
    pub(crate) async fn expired(&self, db: &Transaction, runner: i64, now: i64) -> sql::Result<Vec<(i64, i64)>> {
        db.all(own("select id, until from skep_job_runner where until <= ? and id <> ?", (now, runner))).await
    }

    /// Gives back what dead runners have left that have these leases. A job that was running when its process died,
    /// twice in a row, is a dead letter.
    pub(crate) async fn recover(&self, db: &Transaction, dead: &[(i64, i64)]) -> sql::Result<u64> {
        let mut recovered = 0;
        for lease in dead {
            let delete = own("delete from skep_job_runner where id = ? and until = ?", *lease);
            if db.execute(delete).await?.rows == 1 {
                let text = "update skep_job set state = case when crashes > 0 then 2 else 0 end, crashes = crashes + 1, error = ?,
                            runner = null where state = 1 and runner = ?";
                let error = "the process died while the job was running";
                recovered += db.execute(own(text, (error, lease.0))).await?.rows;
            }
        }
        Ok(recovered)
    }

    /// Has jobs run that were ordered for at once by a clock that was ahead, and those in time that have failed by it.
    pub(crate) async fn hurry(&self, db: &Transaction, jobs: &Jobs, now: i64) -> sql::Result<()> {
        let text = "update skep_job set at = ? where state in (0, 3) and at > ? and at = created";
        db.execute(own(text, (now, now))).await?;
        let failed = "select distinct kind, attempt from skep_job where state = 0 and at > ? and error is not null";
        for (kind, attempts) in db.all::<(String, i64)>(own(failed, now)).await? {
            let Some(pause) = jobs.kinds.get(&*kind).and_then(|kind| kind.longest_pause(attempts)) else { continue };
            let latest = now.saturating_add(millis(pause));
            let text = "update skep_job set at = ? where state = 0 and at > ? and error is not null and kind = ? and attempt = ?";
            db.execute(own(text, (latest, latest, &kind, attempts))).await?;
        }
        Ok(())
    }

    /// Gives back what this runner has but for these, as if it had not been tried.
    pub(crate) async fn release(
        &self,
        db: &Transaction,
        runner: i64,
        but: impl Iterator<Item = i64>,
    ) -> sql::Result<()> {
        let update = "update skep_job set state = 0, attempt = attempt - 1, runner = null where state = 1 and not (id";
        let text = self.of_list(update, ") and runner = ?");
        db.execute(own(&text, (&self.list(but), runner))).await.map(drop)
    }

    pub(crate) async fn end_lease(&self, db: &Transaction, runner: i64) -> sql::Result<()> {
        db.execute(own("delete from skep_job_runner where id = ?", runner)).await.map(drop)
    }

    /// Moves waiting jobs to the queue that their kind has by now.
    pub(crate) async fn follow_queues(&self, db: &Transaction, jobs: &Jobs) -> sql::Result<()> {
        let found = "select distinct kind, queue from skep_job where state in (0, 3)";
        for (kind, old) in db.all::<(String, String)>(own(found, ())).await? {
            let Some(new) = jobs.kinds.get(&*kind).map(|kind| kind.queue).filter(|new| *new != old) else { continue };
            let text = "update skep_job set queue = ? where state in (0, 3) and kind = ? and queue = ?";
            db.execute(own(text, (new, &kind, &old))).await?;
        }
        Ok(())
    }

    /// Numbers as one parameter.
    fn list(&self, ids: impl Iterator<Item = i64>) -> String {
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        match self.dialect {
            Dialect::Sqlite => format!("[{}]", ids.join(",")),
            Dialect::Postgres => format!("{{{}}}", ids.join(",")),
        }
    }

    /// A statement with a [`list`](Self::list).
    fn of_list(&self, before: &str, after: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("{before} in (select value from json_each(?)) {after}"),
            Dialect::Postgres => format!("{before} = any (cast(? as bigint[])) {after}"),
        }
    }
}
