//! One job after the other, on the thread that asks: in tests, and in components.

use std::hash::{BuildHasher, RandomState};
#[cfg(target_family = "wasm")]
use std::pin::pin;
use std::sync::Arc;
#[cfg(target_family = "wasm")]
use std::task::{Context, Poll, Waker};

use skep::sql::Transaction;
use skep::{LocalSite, Result, Site};

use crate::attempt;
use crate::job::millis;
use crate::jobs::Jobs;
use crate::store::{Claimed, Ended};

/// The number of one who runs jobs from now on. Instances of a component may hash alike.
pub(crate) fn new_runner(now: i64) -> i64 {
    (RandomState::new().hash_one(now) >> 1).cast_signed()
}

/// Gives back what dead runners have left that have these leases. False if that was nothing.
pub(crate) async fn recover(db: &Transaction, jobs: &Jobs, dead: &[(i64, i64)]) -> Result<bool> {
    let recovered = jobs.store().recover(db, dead).await?;
    if recovered > 0 {
        tracing::warn!(target: "skep::job", "{recovered} jobs of a process that died are given back");
    }
    Ok(recovered > 0)
}

/// Enqueues what schedules have due.
#[cfg(feature = "cron")]
pub(crate) async fn enqueue_due(db: &Transaction, jobs: &Jobs, now: i64) -> Result<()> {
    for schedule in &jobs.schedules {
        schedule.enqueue_due(db, jobs, now).await?;
    }
    Ok(())
}

/// Runs the next job that is due, if there is one.
#[cfg_attr(not(any(feature = "test", target_family = "wasm")), allow(dead_code, reason = "a server has a runner"))]
pub(crate) async fn run_one(site: &Arc<Site>, local: &LocalSite) -> Result<Option<Ended>> {
    let (jobs, work) = (site.state::<Jobs>(), local.work());
    let now = jobs.now();
    let runner = new_runner(now);
    let db = work.db().transaction().await?;
    // It remembers no lease from one call to the next, so the time of day has to do.
    recover(&db, jobs, &jobs.store().expired(&db, runner, now).await?).await?;
    #[cfg(feature = "cron")]
    enqueue_due(&db, jobs, now).await?;
    let mut claimed: Option<Claimed> = None;
    for (queue, _) in jobs.queues() {
        if claimed.is_none() {
            claimed = jobs.store().claim(&db, (queue, 1), runner, now).await?.pop();
        }
    }
    let Some(claimed) = claimed else {
        db.commit().await?;
        return Ok(None);
    };
    let lease = millis(jobs.lease);
    jobs.store().lease(&db, runner, now.saturating_add(lease), lease).await?;
    db.commit().await?;
    let ended = attempt::run(site, local, runner, claimed).await;
    let db = work.db().transaction().await?;
    jobs.store().settle(&db, runner, std::slice::from_ref(&ended)).await?;
    db.execute(skep::sql::query("delete from skep_job_runner where id = ?", runner).own()).await?;
    db.commit().await?;
    Ok(Some(ended))
}

/// Runs all that is due.
#[cfg(target_family = "wasm")]
pub(crate) fn run_due(site: &Arc<Site>) -> Result<()> {
    let local = site.local();
    block_on(async {
        let (jobs, work) = (site.state::<Jobs>(), local.work());
        // In the first second of an hour: an instance remembers nothing.
        if jobs.now() % 3_600_000 < 1_000 {
            let db = work.db().transaction().await?;
            jobs.store().remove_old_keys(&db, jobs.now()).await?;
            jobs.store().follow_queues(&db, jobs).await?;
            db.commit().await?;
        }
        while run_one(site, &local).await?.is_some() {}
        Ok(())
    })
}

/// In a component, what is awaited is done by the host meanwhile: nothing is ever pending for long.
#[cfg(target_family = "wasm")]
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(value) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}
