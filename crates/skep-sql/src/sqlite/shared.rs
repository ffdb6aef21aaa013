//! A file of SQLite, as all threads of the process share it: one connection that writes, several that read, and the
//! pool that they run on.
//!
//! Start reading at [`PerProcess::read`] and [`PerProcess::write`].

use std::fs::DirBuilder;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skep_cache::FileId;

use super::connection::{Connection, Role, StopOnDrop};
use super::open;
use super::own_task::Holder;
use super::pool::{Lease, Pool};
use crate::dependencies::{OnCommit, Writes};
use crate::error::{Kind, Result};
use crate::migrations::Steps;
use crate::offload::{Offload, offload};
use crate::open_error::OpenError;
use crate::options::Options;
use crate::pool::Streams;

pub(crate) struct PerProcess {
    pub(crate) path: PathBuf,
    file: Option<FileId>,
    /// A statement has found it so.
    is_damaged: AtomicBool,
    pub(crate) options: Options,
    pub(crate) offload: Arc<dyn Offload>,
    pub(super) writer: Arc<Pool>,
    pub(super) readers: Arc<Pool>,
    /// The task whose transaction holds the writer.
    pub(super) holder: Holder,
    /// How many results are being streamed.
    pub(crate) streams: Arc<Streams>,
    pub(crate) on_commit: OnceLock<Arc<dyn OnCommit>>,
    /// Last, so that the connections above are closed before their folder is removed.
    _folder: Option<TemporaryFolder>,
}

impl PerProcess {
    /// Opens the file, creates it and its directory if need be, and runs the migrations it lacks.
    pub(crate) fn open(
        folder: Option<TemporaryFolder>,
        path: &Path,
        migrations: &Steps<'_>,
        mut options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<Arc<Self>, OpenError> {
        // Absolute, so that a later change of the working directory changes nothing, and so that SQLite never takes it
        // for a URI.
        let path = std::path::absolute(path).map_err(|error| OpenError::directory(path, error))?;
        let first = open::open(&path, migrations, &mut options)?;
        let pool = |idle, max, role| {
            let (path, options) = (path.clone(), options.clone());
            Pool::new(idle, max, options.waiting, Box::new(move || Connection::open(&path, role, &options)))
        };
        let writer = pool(vec![first], 1, Role::Writer);
        let readers = pool(Vec::new(), options.readers, Role::Reader);
        let file = FileId::of(&path).ok();
        let (is_damaged, on_commit, holder) = Default::default();
        let streams = Streams::new(options.streams);
        let shared = Self {
            path,
            file,
            is_damaged,
            options,
            offload,
            writer,
            readers,
            holder,
            streams,
            on_commit,
            _folder: folder,
        };
        Ok(Arc::new(shared))
    }

    /// An error if a statement has found that the file is damaged.
    pub(crate) fn check_damage(&self) -> Result<()> {
        let is_damaged = self.is_damaged.load(Ordering::Relaxed);
        let damaged = || Kind::Damaged { path: self.path.clone() }.into();
        if is_damaged { Err(damaged()) } else { Ok(()) }
    }

    /// An error if what is written would be lost.
    pub(crate) fn check_file(&self) -> Result<()> {
        if self.file.is_none_or(|file| file.is_still(&self.path)) {
            return Ok(());
        }
        Err(Kind::FileIsGone { path: self.path.clone() }.into())
    }

    /// Waits for the writer, unless what it wrote would be lost.
    pub(super) async fn lease_writer(&self) -> Result<Lease> {
        self.check_file()?;
        self.holder.wait(self.writer.lease(), self.options.busy_timeout).await
    }

    /// Remembers damage that a statement has found.
    pub(crate) fn note<R>(&self, result: Result<R>) -> Result<R> {
        result.inspect_err(|error| {
            if error.is_damage() {
                self.is_damaged.store(true, Ordering::Relaxed);
            }
        })
    }

    pub(crate) fn connect(&self, role: Role) -> Result<Connection> {
        Connection::open(&self.path, role, &self.options)
    }

    /// Waits for a reader and runs `work` with it on the pool, until it ends or is abandoned. Says how
    /// long it took.
    pub(crate) async fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<(R, Duration)> {
        let mut lease = self.readers.lease().await?;
        let (_stop, stopped) = StopOnDrop::new();
        let job = move || {
            let connection = lease.open()?;
            let started = Instant::now();
            Ok((connection.unless(stopped, work)?, started.elapsed()))
        };
        self.note(offload(&*self.offload, job).await.map_err(Kind::Lost)?)
    }

    /// Waits for the writer and runs `work` with it on the pool, which may change these tables.
    pub(crate) async fn write<R: Send + 'static>(
        &self,
        writes: Writes,
        work: impl FnOnce(&Connection) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let mut lease = self.lease_writer().await?;
        let commit = self.commit(writes.tables());
        let job = move || {
            // What makes rows is the application's. Should it panic, what was written is there nevertheless.
            let work = |connection: &Connection| catch_unwind(AssertUnwindSafe(|| work(connection)));
            let (result, has_changed) = lease.open()?.noting_changes(work);
            // First of all, so that others need not wait for caches.
            drop(lease);
            if has_changed {
                commit.announce();
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        };
        self.note(offload(&*self.offload, job).await.map_err(Kind::Lost)?)
    }

    pub(crate) fn commit(&self, tables: Vec<&'static str>) -> Commit {
        let then = self.on_commit.get().filter(|_| !tables.is_empty()).cloned();
        Commit { then, tables }
    }
}

/// What is to be announced of a write once it is committed. It is announced by the thread of the pool that commits: a
/// handler may be dropped between the two.
pub(crate) struct Commit {
    then: Option<Arc<dyn OnCommit>>,
    tables: Vec<&'static str>,
}

impl Commit {
    pub(crate) fn announce(self) {
        if let Some(then) = self.then {
            then.tables_changed(&self.tables);
        }
    }
}

/// A folder with a database for a test, removed with this.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// The file of the database in it.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("database.sqlite")
    }

    /// A folder that nobody else has: creating it fails if it is there, and then the next number is tried.
    pub(crate) fn new() -> Result<Self, OpenError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("skep-{}-{number}", std::process::id()));
            match private(&mut DirBuilder::new()).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(OpenError::directory(&path, error)),
            }
        }
    }
}

#[cfg(unix)]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which clears this directory anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
