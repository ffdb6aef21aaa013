//! The thread of a process that writes who is present by it, and renews its lease.
//!
//! Start reading at [`Writer::write`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use skep::sql::{self, Checked, Transaction, Value};
use skep::{Result, Site};
use tokio::time::timeout;

use super::{Attendance, Opened, ROWS, checked, known};
use crate::members::{Due, LINGER, Members, Tracked};
use crate::thread::Signals;
use crate::topics::{Topics, insert, is_postgres, own};

/// Wakes who reads messages.
pub(super) type Wake = Arc<dyn Fn() + Send + Sync>;

static ARRIVE: [Checked; 2] = checked(
    "insert into skep_presence (process, number, topic, key, id, who, at) values (?, ?, ?, ?, ?, ?, ?)
    on conflict (process, number) do update set who = excluded.who",
    &[],
    ROWS,
);

static LEAVE: [Checked; 2] = checked("delete from skep_presence where process = ? and number = ?", &[], ROWS);

static END: [Checked; 2] = checked("delete from skep_presence where process = ?", &[], ROWS);

const RENEW: &str = "insert into skep_presence_process (process, until) values (?, ?)
    on conflict (process) do update set until = excluded.until";

impl Attendance {
    pub(super) fn open(&self, site: &Site) {
        if let Some(topics) = site.find_state::<Topics>() {
            _ = self.wake_topics.set(Arc::new(topics.waker()));
        }
        self.worker.open_alone(site);
        self.members.wake_by(self.worker.waker());
    }

    pub(super) fn start(&self) -> Result<()> {
        let (members, opened, wake) =
            (Arc::clone(&self.members), self.opened().clone(), self.wake_topics.get().cloned());
        let (process, knows_others) = (self.process().to_owned(), Arc::clone(&self.knows_others));
        let work = async move |db, signals| {
            Writer { db, process, opened, wake, knows_others }.run(members, signals).await;
        };
        self.worker.start("presence", |_| (), work)?;
        Ok(())
    }
}

/// What writes for one process.
pub(super) struct Writer {
    db: sql::Local,
    process: String,
    opened: Opened,
    wake: Option<Wake>,
    knows_others: Arc<AtomicBool>,
}

impl Writer {
    async fn run(&self, members: Arc<Members>, signals: Arc<Signals>) {
        let (mut renewal, mut has_lease) = (Instant::now(), false);
        // When the next lease of another process ends.
        let mut others = None;
        while !signals.has_ended() {
            let (now, due) = (Instant::now(), members.due(Instant::now()));
            let times = due.is_anybody.then_some(renewal).into_iter().chain(others);
            if due.here.is_empty() && due.gone.is_empty() && times.clone().all(|time| time > now) {
                has_lease &= due.is_anybody;
                signals.woken_until(due.next.into_iter().chain(times).min()).await;
                if others.is_none() {
                    others = self.end_of_others().await;
                }
                continue;
            }
            match self.write(&due).await {
                Ok(lasted) => {
                    members.written(&due);
                    if has_lease && !lasted {
                        members.forget_written();
                    }
                    (renewal, has_lease) = (now + self.opened.lease / 3, true);
                    others = self.end_of_others().await;
                }
                Err(error) => {
                    tracing::warn!(target: "skep::live", "who is present cannot be written, and is tried again: {error}");
                    signals.pause().await;
                }
            }
        }
        // The process waits for it.
        if !matches!(timeout(LINGER, self.end()).await, Ok(Ok(()))) {
            tracing::debug!(target: "skep::live", "who was present is gone when the lease ends");
        }
    }

    /// When the next lease of another process ends; they renew theirs before that.
    async fn end_of_others(&self) -> Option<Instant> {
        let next = "select min(until) from skep_presence_process where process <> ?";
        let until = match self.db.one(own::<Option<i64>>(next, &self.process)).await {
            Ok(until) => until.flatten(),
            Err(_) => Some(self.opened.now().saturating_add(self.opened.lease())),
        };
        self.knows_others.store(until.is_some(), Ordering::Relaxed);
        let left = until?.saturating_sub(self.opened.now()).max(0).unsigned_abs();
        // It is over once that moment has passed.
        Some(Instant::now() + Duration::from_millis(left + 1))
    }

    /// Renews the lease, writes who came and who left, and removes whom processes have left behind that died. False if
    /// others may have taken this one for dead.
    pub(super) async fn write(&self, due: &Due) -> Result<bool> {
        let (now, db) = (self.opened.now(), self.db.transaction().await?);
        if self.wake.is_some() && is_postgres(self.opened.dialect) {
            // Of two who leave at once, the second one knows that it is the last.
            db.one(own::<String>("select cast(pg_advisory_xact_lock(8316866951398981636) as text)", ())).await?;
        }
        let until =
            db.one(own::<i64>("select until from skep_presence_process where process = ?", &self.process)).await?;
        if due.is_anybody {
            db.execute(own(RENEW, (&self.process, now.saturating_add(self.opened.lease())))).await?;
        }
        for (number, tracked) in &due.here {
            self.arrive(&db, *number, tracked, now).await?;
        }
        for (number, tracked) in &due.gone {
            let values = [Value::Text((&*self.process).into()), Value::Integer(*number)];
            db.execute(known(&LEAVE, self.opened.dialect, values)).await?;
            self.publish_gone(&db, (tracked.presence, &tracked.key, &tracked.id), now).await?;
        }
        self.remove_dead(&db, now).await?;
        db.commit().await?;
        Ok(until.is_some_and(|until| until > now))
    }

    async fn arrive(&self, db: &Transaction, number: i64, tracked: &Tracked, now: i64) -> Result<()> {
        let Tracked { presence, key, id, who } = tracked;
        let same = "select count(*) from skep_presence where topic = ? and key = ? and id = ? and who = ?";
        let is_known = db.one(own::<i64>(same, (*presence, key, id, who))).await? > Some(0);
        let text = |text: &'_ str| Value::Text(text.to_owned().into());
        let (number, at) = (Value::Integer(number), Value::Integer(now));
        let values = [text(&self.process), number, text(presence), text(key), text(id), text(who), at];
        db.execute(known(&ARRIVE, self.opened.dialect, values)).await?;
        if is_known {
            return Ok(());
        }
        let id = serde_json::to_string(id)?;
        self.publish(db, (presence, key), format!("{{\"here\":{{\"id\":{id},\"who\":{who}}}}}"), now).await
    }

    async fn publish_gone(&self, db: &Transaction, (presence, key, id): (&str, &str, &str), now: i64) -> Result<()> {
        let others = "select count(*) from skep_presence where topic = ? and key = ? and id = ?";
        if self.wake.is_none() || db.one(own::<i64>(others, (presence, key, id))).await? > Some(0) {
            return Ok(());
        }
        let id = serde_json::to_string(id)?;
        self.publish(db, (presence, key), format!("{{\"gone\":{{\"id\":{id}}}}}"), now).await
    }

    async fn publish(&self, db: &Transaction, (topic, key): (&str, &str), payload: String, now: i64) -> Result<()> {
        let Some(wake) = self.wake.clone() else { return Ok(()) };
        db.execute(insert(topic, key, now, &payload)).await?;
        db.after_commit(move || wake());
        Ok(())
    }

    async fn remove_dead(&self, db: &Transaction, now: i64) -> Result<()> {
        let dead = "select process from skep_presence_process where until <= ?";
        for process in db.all(own::<String>(dead, now)).await? {
            let left = "select distinct topic, key, id from skep_presence where process = ?";
            let left = db.all(own::<(String, String, String)>(left, &process)).await?;
            if !left.is_empty() {
                // Pages are made again only if anybody was there.
                db.execute(known(&END, self.opened.dialect, [Value::Text(process.clone().into())])).await?;
            }
            for (presence, key, id) in &left {
                self.publish_gone(db, (presence, key, id), now).await?;
            }
            db.execute(own("delete from skep_presence_process where process = ?", &process)).await?;
        }
        Ok(())
    }

    /// The application ends. Those whom it has seen come back to its successor; this one removes who does not.
    async fn end(&self) -> Result<()> {
        let linger = i64::try_from(LINGER.as_millis()).unwrap_or(i64::MAX);
        let until = self.opened.now().saturating_add(linger);
        let end = "update skep_presence_process set until = ? where process = ? and until > ?";
        self.db.execute(own(end, (until, &self.process, until))).await?;
        Ok(())
    }
}
