//! Runs jobs: in one process of the machine, on a thread of its own with a runtime.
//!
//! It claims as many jobs as there are free slots, notes in the same transaction what became of those before, and waits
//! until it is woken: by a commit, by the end of a job, or by its clock. While it has jobs, it has a lease. A runner
//! whose lease or process has ended (`leases.rs`) is dead, and any other runner gives back what it had.
//!
//! Start reading at [`Runner::serve`].

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use skep::sql::Transaction;
use skep::{LocalSite, Result, Site, Work};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use crate::attempt;
use crate::job::millis;
use crate::jobs::Jobs;
use crate::leases::{Alive, Leases};
#[cfg(feature = "cron")]
use crate::step::enqueue_due;
use crate::step::{new_runner, recover};
use crate::store::{CHANNEL, Claimed, Ended};

/// How long nobody looks for jobs if nobody is woken: a safety net, for writes of other programs and clocks that were
/// changed.
const LOOK: Duration = Duration::from_mins(1);

/// Milliseconds by which the time of day is corrected all the time.
const STEP: i64 = 1_000;

/// The pause after an error of the database.
const PAUSE: Duration = Duration::from_secs(1);

/// How often keys are removed that hold no longer.
const TIDY: Duration = Duration::from_hours(1);

/// Runs jobs until the server drains, and then gives those that run the time that there is.
pub(crate) fn run(site: &Arc<Site>, grace: Duration) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let mut runner = Runner::new(site);
        let jobs = site.state::<Jobs>();
        if let Err(error) = jobs.wake.hear() {
            tracing::warn!(target: "skep::job", %error, "jobs of other processes are looked for once a minute only");
        }
        let listening = tokio::task::spawn_local(listen(Arc::clone(site)));
        let counting = tokio::task::spawn_local(count(Arc::clone(site)));
        runner.serve().await;
        jobs.wake.mute();
        listening.abort();
        counting.abort();
        let ended = runner.end(grace).await;
        // Others that have begun to look meanwhile have not seen what is given back.
        jobs.wake.wake();
        ended
    })
}

/// Hears of jobs in PostgreSQL.
async fn listen(site: Arc<Site>) {
    let (work, jobs) = (site.local().work(), site.state::<Jobs>());
    while let Err(error) = work.db().relay(CHANNEL, |_| jobs.wake.wake()).await {
        tracing::warn!(target: "skep::job", %error, "PostgreSQL cannot be listened to");
        tokio::time::sleep(PAUSE * 5).await;
        jobs.wake.wake();
    }
}

/// Counts jobs for who asks.
async fn count(site: Arc<Site>) {
    site.state::<Jobs>().figures.serve(&site.local().work()).await;
}

struct Runner {
    site: Arc<Site>,
    local: LocalSite,
    work: Work,
    id: i64,
    running: HashMap<i64, (String, JoinHandle<()>)>,
    sender: mpsc::UnboundedSender<Ended>,
    results: mpsc::UnboundedReceiver<Ended>,
    /// What has ended and is not noted yet.
    ended: Vec<Ended>,
    /// When the lease is to be renewed; none without one.
    renew: Option<Instant>,
    /// What was claimed last may have been claimed without us hearing of it.
    in_doubt: bool,
    /// Of others.
    leases: Leases,
    /// None where files cannot be locked.
    alive: Option<Alive>,
    /// When a schedule is due.
    schedule: i64,
    /// Of the last claim, by the clock that nobody sets and by the time of day.
    clock: Option<(Instant, i64)>,
    /// When jobs are looked at once more, after the time of day was set back.
    recheck_clock_at: Option<Instant>,
    tidied: Option<Instant>,
}

/// Why the runner goes on.
#[derive(PartialEq)]
enum Event {
    Drain,
    Other,
}

impl Runner {
    fn new(site: &Arc<Site>) -> Self {
        let (local, (sender, results)) = (site.local(), mpsc::unbounded_channel());
        let id = new_runner(site.state::<Jobs>().now());
        let alive = Alive::new(&site.data().join("jobs.running"), id).inspect_err(|error| {
            tracing::warn!(target: "skep::job", %error, "jobs wait for the end of their lease if this process is killed");
        });
        Self {
            site: Arc::clone(site),
            // Jobs hold connections of their thread for as long as they like.
            work: site.local().work(),
            local,
            id,
            running: HashMap::new(),
            sender,
            results,
            ended: Vec::new(),
            renew: None,
            in_doubt: false,
            leases: Leases::default(),
            alive: alive.ok(),
            schedule: 0,
            clock: None,
            recheck_clock_at: None,
            tidied: None,
        }
    }

    fn jobs(&self) -> &Jobs {
        self.site.state()
    }

    /// Claims and runs jobs until the server drains.
    async fn serve(&mut self) {
        while !self.site.draining().has_begun() {
            let wait = match self.turn(true).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::error!(target: "skep::job", "jobs cannot be claimed or noted, and are tried again: {error}");
                    self.in_doubt = true;
                    PAUSE
                }
            };
            if self.wait(wait).await == Event::Drain {
                return;
            }
        }
    }

    /// Notes what has ended, and claims what is due. Gives how long there is nothing to do.
    async fn turn(&mut self, claims: bool) -> Result<Duration> {
        while let Ok(ended) = self.results.try_recv() {
            self.note(ended);
        }
        let db = self.work.db().transaction().await?;
        let now = self.jobs().now();
        if self.in_doubt {
            let known = self.running.keys().copied().chain(self.ended.iter().map(|one| one.claimed.id));
            self.jobs().store().release(&db, self.id, known).await?;
        }
        self.jobs().store().settle(&db, self.id, &self.ended).await?;
        let (is_ours, renew) = self.keep_lease(&db, now).await?;
        let tidied = self.tidied;
        let claimed = if claims && is_ours { self.claim(&db, now, renew.is_some()).await? } else { Vec::new() };
        let renews = (!claimed.is_empty()).then(|| Instant::now() + self.jobs().lease / 3);
        db.commit().await?;
        if self.tidied != tidied {
            self.tidy_files().await;
        }
        self.in_doubt = !is_ours;
        self.renew = renew.or(renews);
        self.ended.clear();
        if !is_ours {
            tracing::error!(target: "skep::job", "this process was so late that its jobs were given to others");
            self.running.drain().for_each(|(_, (_, task))| task.abort());
            return Ok(Duration::ZERO);
        }
        for job in claimed {
            self.begin(job);
        }
        self.next(now).await
    }

    /// Keeps the lease while there are jobs: false if it was lost, and when it is to be renewed once this is committed.
    async fn keep_lease(&self, db: &Transaction, now: i64) -> Result<(bool, Option<Instant>)> {
        // Without a job, it ends by itself.
        let Some(renew) = self.renew.filter(|_| !self.running.is_empty()) else { return Ok((true, None)) };
        if Instant::now() < renew {
            return Ok((true, Some(renew)));
        }
        let (lease, renew) = (self.jobs().lease, Instant::now() + self.jobs().lease / 3);
        let is_ours = self.jobs().store().renew(db, self.id, now.saturating_add(millis(lease))).await?;
        Ok((is_ours, is_ours.then_some(renew)))
    }

    async fn claim(&mut self, db: &Transaction, now: i64, has_lease: bool) -> Result<Vec<Claimed>> {
        let has_recovered = recover(db, self.jobs(), &self.leases.dead(Instant::now())).await?;
        if self.clock_was_set_back(now) || has_recovered {
            self.jobs().store().hurry(db, self.jobs(), now).await?;
        }
        #[cfg(feature = "cron")]
        if now >= self.schedule {
            enqueue_due(db, self.jobs(), now).await?;
        }
        if self.tidied.is_none_or(|tidied| tidied.elapsed() > TIDY) {
            self.jobs().store().remove_old_keys(db, now).await?;
            self.jobs().store().follow_queues(db, self.jobs()).await?;
            self.tidied = Some(Instant::now());
        }
        let mut claimed = Vec::new();
        for (queue, free) in self.free_slots() {
            claimed.extend(self.jobs().store().claim(db, (queue, free), self.id, now).await?);
        }
        if !claimed.is_empty() && !has_lease {
            let lease = millis(self.jobs().lease);
            self.jobs().store().lease(db, self.id, now.saturating_add(lease), lease).await?;
        }
        Ok(claimed)
    }

    /// What cannot be removed now is removed another time: no job waits for it.
    async fn tidy_files(&self) {
        let Some(alive) = &self.alive else { return };
        if let Ok(leases) = self.jobs().store().leases(self.work.db(), self.id).await {
            alive.tidy(|id| leases.iter().any(|(of, ..)| *of == id));
        }
    }

    /// True if jobs may wait for a time of day that was wrong: it was set back since the last claim, or perhaps before
    /// the first one; or a while ago, when a transaction with such jobs may have been open.
    fn clock_was_set_back(&mut self, now: i64) -> bool {
        let last = self.clock.replace((Instant::now(), now));
        let is_ahead =
            |(then, was): (Instant, i64)| was.saturating_add(millis(then.elapsed())) > now.saturating_add(STEP);
        if last.is_none_or(is_ahead) {
            self.recheck_clock_at = Some(Instant::now() + LOOK);
            return true;
        }
        self.recheck_clock_at.take_if(|at| *at <= Instant::now()).is_some()
    }

    /// Queues in which jobs may begin, and how many.
    fn free_slots(&self) -> Vec<(&'static str, usize)> {
        let busy = |queue: &str| self.running.values().filter(|(of, _)| of == queue).count();
        let free = self.jobs().queues().into_iter().map(|(queue, slots)| (queue, slots.saturating_sub(busy(queue))));
        free.filter(|(_, free)| *free > 0).collect()
    }

    fn begin(&mut self, claimed: Claimed) {
        let (site, local, id) = (Arc::clone(&self.site), self.local.clone(), self.id);
        let (job, queue, sender) = (claimed.id, claimed.queue.clone(), self.sender.clone());
        let task = tokio::task::spawn_local(async move {
            // Who receives it is dropped with this task.
            _ = sender.send(attempt::run(&site, &local, id, claimed).await);
        });
        self.running.insert(job, (queue, task));
    }

    fn note(&mut self, ended: Ended) {
        // One that was given to others is not ours to note.
        if self.running.remove(&ended.claimed.id).is_some() {
            self.jobs().figures.note(&ended);
            self.ended.push(ended);
        }
    }

    /// How long there is nothing to do, unless something ends or somebody enqueues.
    async fn next(&mut self, now: i64) -> Result<Duration> {
        let (jobs, db) = (self.site.state::<Jobs>(), self.work.db());
        let has_ended = |id| self.alive.as_ref().is_some_and(|alive| alive.has_ended(id));
        self.leases.note(jobs.store().leases(db, self.id).await?, has_ended, Instant::now());
        #[cfg(feature = "cron")]
        {
            self.schedule = jobs.next_schedule(now).unwrap_or(i64::MAX);
        }
        let due = jobs.store().next(db, now).await?.unwrap_or(i64::MAX).min(self.schedule);
        let next = Duration::from_millis(due.saturating_sub(jobs.now()).max(0).cast_unsigned()).min(LOOK);
        let next = self.leases.next(Instant::now()).map_or(next, |lease| next.min(lease));
        Ok(self.renew.map_or(next, |renew| next.min(renew.saturating_duration_since(Instant::now()))))
    }

    async fn wait(&mut self, time: Duration) -> Event {
        let (site, mut results) = (Arc::clone(&self.site), Vec::new());
        let (mut draining, mut woken) = (pin!(site.draining()), pin!(site.state::<Jobs>().wake.woken()));
        let mut time = pin!(tokio::time::sleep(time));
        let event = poll_fn(|cx| {
            if draining.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Event::Drain);
            }
            if let Poll::Ready(Some(ended)) = self.results.poll_recv(cx) {
                results.push(ended);
                return Poll::Ready(Event::Other);
            }
            let is_due = woken.as_mut().poll(cx).is_ready() || time.as_mut().poll(cx).is_ready();
            if is_due { Poll::Ready(Event::Other) } else { Poll::Pending }
        });
        let event = event.await;
        for ended in results {
            self.note(ended);
        }
        event
    }

    /// Waits for jobs that run, within what there is of `grace`, and gives back those that do not end.
    async fn end(&mut self, grace: Duration) -> Result<()> {
        // Something is left for giving back.
        let until = Instant::now() + grace.saturating_sub((grace / 4).min(Duration::from_secs(1)));
        let mut next = self.renew.unwrap_or(until);
        while !self.running.is_empty() && Instant::now() < until {
            if let Ok(Some(ended)) = timeout_at(next.min(until).into(), self.results.recv()).await {
                self.note(ended);
            }
            // A job that is cut off may hold what this waits for.
            next = match timeout_at(until.into(), self.turn(false)).await {
                Ok(Ok(_)) => self.renew.unwrap_or(until),
                Ok(Err(error)) => {
                    tracing::warn!(target: "skep::job", "what a job has come to is noted later: {error}");
                    Instant::now() + PAUSE
                }
                Err(_) => until,
            };
        }
        self.running.values().for_each(|(_, task)| task.abort());
        for (_, task) in self.running.values_mut() {
            // It ends with its transaction, which others wait for.
            _ = task.await;
        }
        while let Ok(ended) = self.results.try_recv() {
            self.note(ended);
        }
        let cut_off = self.running.drain().count();
        if cut_off > 0 {
            tracing::warn!(target: "skep::job", "{cut_off} jobs were cut off by the end of the server, and will be run again");
        }
        let db = self.work.db().transaction().await?;
        self.jobs().store().settle(&db, self.id, &self.ended).await?;
        self.jobs().store().release(&db, self.id, std::iter::empty()).await?;
        self.jobs().store().end_lease(&db, self.id).await?;
        if let Some(notify) = self.jobs().store().notify() {
            db.one(notify).await?;
        }
        db.commit().await?;
        self.alive.take().into_iter().for_each(Alive::end);
        Ok(())
    }
}
