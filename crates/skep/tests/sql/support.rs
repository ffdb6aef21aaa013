//! What the tests share: a pool of threads, a runtime, a schema, a folder.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use skep::offload::{Inline, Offload};
use skep::sql::{Database, Migration, Migrations, OpenError, Options};

pub(crate) const SCHEMA: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_posts.sql",
    "create table post (id integer primary key, title text not null unique);
     create table comment (post integer not null references post, text text not null check (text != ''));",
)]);

/// Counts to its parameter: a second and more from some ten million on.
pub(crate) const COUNT: &str =
    "with recursive n (i) as (select 1 union all select i + 1 from n where i < ?) select count(*) from n";

/// Ends only when it is stopped.
pub(crate) const FOREVER: i64 = i64::MAX;

/// Some threads that run what they are given, and count it.
pub(crate) struct Threads {
    jobs: mpsc::Sender<Box<dyn FnOnce() + Send>>,
    taken: AtomicUsize,
}

impl Threads {
    pub(crate) fn start(threads: usize) -> Arc<Self> {
        let (jobs, waiting) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let waiting = Arc::clone(&waiting);
            std::thread::spawn(move || {
                loop {
                    let job = waiting.lock().unwrap().recv();
                    let Ok(job) = job else { return };
                    job();
                }
            });
        }
        Arc::new(Self { jobs, taken: AtomicUsize::new(0) })
    }

    /// How many jobs it was given so far.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Offload for Threads {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.taken.fetch_add(1, Ordering::Relaxed);
        self.jobs.send(job).unwrap();
    }
}

/// The application's thread: one reactor.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

/// A folder that is removed when the test ends.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("skep-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("site.sqlite")
    }

    /// Opens its file with little patience.
    pub(crate) fn open(&self, migrations: &Migrations) -> Result<Database, OpenError> {
        self.open_with(migrations, impatient())
    }

    pub(crate) fn open_with(&self, migrations: &Migrations, options: Options) -> Result<Database, OpenError> {
        Database::open(self.file(), migrations, options, Arc::new(Inline))
    }

    /// A connection of another program.
    pub(crate) fn stranger(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn impatient() -> Options {
    Options::new().busy_timeout(Duration::from_millis(50))
}
