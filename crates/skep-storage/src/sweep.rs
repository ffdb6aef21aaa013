//! Removes files that no transaction has: those of a deleted row, and those of a transaction that was undone or whose
//! process died.
//!
//! Before a file is stored, a note of it is. What registers the file is a row, in the transaction of the application.
//! So a note with a row has done its work, and one that is a day old without a row is of an orphan; a longer
//! transaction there is not.

use std::future::Future;
use std::time::{Duration, SystemTime};

use skep::{Error, Result, Site};

use crate::error::Outcome;
use crate::key::Key;
use crate::schema;
use crate::storage::{Files, Storage};

/// How old a note without a row is when its file is removed.
const ORPHANED: Duration = Duration::from_hours(24);

/// Removes the files that a committed transaction has deleted.
pub(crate) fn remove_deleted(site: &Site) -> Result<()> {
    block_on(async {
        let (mut failures, mut last) = (Failures::default(), None);
        loop {
            let keys = site.db().write(|db| db.all(schema::removed_after(last.as_deref().unwrap_or_default())))?;
            for key in keys.iter().filter_map(|key| Key::parse(key)) {
                failures.note(&key, remove(site, &key).await);
            }
            if keys.len() < schema::AT_ONCE as usize {
                return failures.first();
            }
            last = keys.last().cloned();
        }
    })
}

async fn remove(site: &Site, key: &Key) -> Result<()> {
    Storage::of(site).place.remove(key).await?;
    site.db().write(|db| db.execute(schema::forget(key, 1)))?;
    Ok(())
}

/// Removes files that no transaction has registered, and notes of those that one has.
pub(crate) fn remove_orphans(site: &Site) -> Result<()> {
    block_on(async { settle_all(site, Storage::of(site).place.notes().await?).await })
}

async fn settle_all(site: &Site, notes: Vec<(Key, SystemTime)>) -> Result<()> {
    let mut failures = Failures::default();
    for (key, since) in notes {
        failures.note(&key, settle(site, &key, since).await);
    }
    failures.first()
}

async fn settle(site: &Site, key: &Key, since: SystemTime) -> Result<()> {
    let place = &Storage::of(site).place;
    if site.db().write(|db| db.one(schema::removed(key)))?.is_some() {
        // In this order: without its row, the note would say that the file is an orphan.
        place.remove_note(key).await?;
        site.db().write(|db| db.execute(schema::forget(key, 0)))?;
    } else if SystemTime::now().duration_since(since).is_ok_and(|age| age > ORPHANED) && place.is_noted(key).await? {
        // The note is looked at again after the row: the sweep of another machine removes first the note, then the row.
        place.remove(key).await?;
        tracing::info!(target: "skep::storage", ?key, "a file was removed that no transaction had");
    }
    Ok(())
}

/// What went wrong: one file does not keep the others from being removed.
#[derive(Default)]
struct Failures(Option<Error>);

impl Failures {
    fn note(&mut self, key: &Key, outcome: Result<()>) {
        if let Err(error) = outcome {
            tracing::warn!(target: "skep::storage", ?key, ?error, "a file or its note cannot be removed");
            self.0.get_or_insert(error);
        }
    }

    fn first(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

impl Files {
    async fn remove(&self, key: &Key) -> Outcome<()> {
        match self {
            Self::Folder(folder) => Ok(folder.remove(key)?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Self::S3(bucket) => bucket.remove(key).await,
        }
    }

    async fn remove_note(&self, key: &Key) -> Outcome<()> {
        match self {
            Self::Folder(folder) => Ok(folder.remove_note(key)?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Self::S3(bucket) => bucket.remove_note(key).await,
        }
    }

    async fn is_noted(&self, key: &Key) -> Outcome<bool> {
        match self {
            Self::Folder(folder) => Ok(folder.is_noted(key)?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Self::S3(bucket) => bucket.is_noted(key).await,
        }
    }

    async fn notes(&self) -> Outcome<Vec<(Key, SystemTime)>> {
        match self {
            Self::Folder(folder) => Ok(folder.notes()?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Self::S3(bucket) => bucket.notes().await,
        }
    }
}

#[cfg(all(feature = "s3", not(target_family = "wasm")))]
fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// What is done in a folder waits for nothing.
#[cfg(not(all(feature = "s3", not(target_family = "wasm"))))]
fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    use std::task::{Context, Poll, Waker};

    match std::pin::pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(Error::internal("files of a folder had to be waited for")),
    }
}

#[cfg(test)]
#[path = "../tests/unit/sweep.rs"]
mod tests;
