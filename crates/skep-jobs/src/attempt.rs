//! One attempt at a job: within its time limit, its panics caught, its transaction committed with the note that it is
//! done.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use skep::{Error, LocalSite, Result, Site, Work};
use skep_units::chain;
use skep_units::panic::{CatchPanic, catch};

use crate::cx::JobCx;
use crate::job::{Outcome, millis};
use crate::jobs::{JITTER, Jobs, Kind};
use crate::store::{Claimed, Ended, Fate};

/// Characters of an error that are kept.
const LONGEST: usize = 10_000;

/// Runs a job that this runner has claimed.
pub(crate) async fn run(site: &Arc<Site>, local: &LocalSite, runner: i64, claimed: Claimed) -> Ended {
    let mut fate = caught(site, local, runner, &claimed).await;
    if let Fate::Dead(error) | Fate::Again { error: Some(error), .. } = &mut fate {
        *error = plain(error);
    }
    match &fate {
        Fate::Again { error: Some(error), .. } => {
            tracing::warn!(target: "skep::job", kind = claimed.kind, job = claimed.id, attempt = claimed.attempt, "an attempt failed: {error}");
        }
        Fate::Dead(error) => {
            tracing::error!(target: "skep::job", kind = claimed.kind, job = claimed.id, attempt = claimed.attempt, "a job is a dead letter: {error}");
        }
        _ => {}
    }
    Ended { claimed, fate }
}

/// As much of a text as is kept, as each database takes it: PostgreSQL has no zeros in texts.
fn plain(text: &str) -> String {
    text.chars().take(LONGEST).map(|char| if char == '\0' { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

/// All that the application wrote panics within, also what is dropped: a panic outside would keep the job's slot for
/// ever.
async fn caught(site: &Arc<Site>, local: &LocalSite, runner: i64, claimed: &Claimed) -> Fate {
    let whole = pin!(async {
        let (jobs, work) = (site.state::<Jobs>(), local.work());
        let fate = match jobs.kinds.get(&*claimed.kind) {
            Some(kind) => attempt(site, (jobs, kind), &work, (runner, claimed)).await,
            None => Fate::Again { at: claimed.at, failed: false, error: None },
        };
        work.undo();
        fate
    });
    CatchPanic(whole).await.unwrap_or_else(|panicked| Fate::Dead(panicked.to_string()))
}

async fn attempt(
    site: &Arc<Site>,
    (jobs, kind): (&Jobs, &Kind),
    work: &Work,
    (runner, claimed): (i64, &Claimed),
) -> Fate {
    let mut cx = JobCx { work, site, claimed, attempts: kind.attempts };
    let outcome = match catch(|| (kind.start)(&claimed.payload, &mut cx)) {
        Ok(Ok(running)) => in_time(kind, running).await,
        // It would be the same at each attempt.
        Ok(Err(error)) => return Fate::Dead(format!("its fields cannot be read: {error}")),
        Err(panicked) => Err(Error::internal(panicked)),
    };
    let fate = match outcome {
        Ok(Outcome::Done) => finish(jobs, work, runner, claimed, None).await,
        Ok(Outcome::Snooze(pause)) => {
            let at = jobs.now().saturating_add(millis(pause));
            finish(jobs, work, runner, claimed, Some(at)).await
        }
        Ok(Outcome::GiveUp(reason)) => return Fate::Dead(reason),
        Err(error) => Err(error),
    };
    fate.unwrap_or_else(|error| failed(jobs, kind, claimed, &error))
}

/// Ends the transaction of the job, if there is one, together with its row.
async fn finish(jobs: &Jobs, work: &Work, runner: i64, claimed: &Claimed, snooze: Option<i64>) -> Result<Fate> {
    let Some(transaction) = work.open_transaction() else {
        return Ok(snooze.map_or(Fate::Done, |at| Fate::Again { at, failed: false, error: None }));
    };
    let is_ours = match snooze {
        None => jobs.store().finish(transaction, runner, claimed).await?,
        Some(at) => jobs.store().snooze(transaction, runner, claimed, at).await?,
    };
    if !is_ours {
        return Err(Error::internal("the job was cancelled while it ran, or is run by others by now"));
    }
    work.commit().await?;
    Ok(Fate::Noted)
}

#[cfg(not(target_family = "wasm"))]
async fn in_time(kind: &Kind, running: impl Future<Output = Result<Outcome>>) -> Result<Outcome> {
    let limit = kind.time_limit;
    let too_long = || Err(Error::internal(format!("it took longer than {limit:?} (Job::TIME_LIMIT)")));
    match tokio::time::timeout(limit, CatchPanic(pin!(running))).await {
        Ok(ended) => ended.unwrap_or_else(|panicked| Err(Error::internal(panicked))),
        Err(_) => too_long(),
    }
}

/// The host of a component limits the time of all that runs in it.
#[cfg(target_family = "wasm")]
async fn in_time(_kind: &Kind, running: impl Future<Output = Result<Outcome>>) -> Result<Outcome> {
    CatchPanic(pin!(running)).await.unwrap_or_else(|panicked| Err(Error::internal(panicked)))
}

fn failed(jobs: &Jobs, kind: &Kind, claimed: &Claimed, error: &Error) -> Fate {
    let error = error.cause().map_or_else(|| error.to_string(), |cause| chain(cause));
    let attempts = u32::try_from(claimed.attempt).unwrap_or(u32::MAX);
    if attempts >= kind.attempts {
        return Fate::Dead(error);
    }
    let pause = with_jitter((kind.retry_after)(attempts));
    Fate::Again { at: jobs.now().saturating_add(millis(pause)), failed: true, error: Some(error) }
}

fn with_jitter(pause: Duration) -> Duration {
    // The standard library's hasher is seeded from the system's randomness.
    let part = u32::try_from(RandomState::new().hash_one(0) >> 40).unwrap_or_default();
    pause.saturating_add((pause / JITTER).saturating_mul(part) / (1 << 24))
}
