//! PostgreSQL, where the setting `database` names one, with the same verbs as for SQLite.
//!
//! Each thread has connections of its own, on its own event loop: [`pool`] says which statement goes where. Nothing is
//! known here of processes and of settings.
//!
//! Start reading at [`pool::Pool::run`], and for the start at [`PerProcess::open`].

mod address;
mod blocking;
mod columns;
mod connection;
mod engine;
mod failure;
mod guests;
mod in_flight;
mod listen;
mod migrate;
mod packed;
mod pool;
mod replica;
mod status;
mod stream;
mod tls;
mod transaction;
mod value;
pub(crate) mod verb;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use skep_units::lock;
use tokio_postgres::Config;

pub(super) use self::blocking::BlockingConnection;
pub(super) use self::connection::BoundStatement;
pub(super) use self::engine::{PoolHandle, PoolWriter};
pub use self::listen::{Notification, Notifications};
pub(super) use self::migrate::MigrationSource;
pub(super) use self::pool::Pool;
use self::replica::Replica;
use self::status::Counts;
pub(super) use self::stream::Cursor;
pub(super) use self::transaction::PoolTransaction;
use super::checked::Dialect;
use super::dependencies::{ANY_TABLE, OnCommit};
use super::error::Result;
use super::options::Options;
use super::query::Query;
use crate::offload::{Offload, offload_to_end};
use crate::open_error::{OpenError, Problem};
use crate::pool::Streams;

/// The database, for all threads of the process.
pub(super) struct PerProcess {
    config: Config,
    tls: tls::Tls,
    cancels: bool,
    /// The address without user and password.
    pub(super) shown_address: PathBuf,
    pub(super) options: Options,
    offload: Arc<dyn Offload>,
    pub(super) on_commit: OnceLock<Arc<dyn OnCommit>>,
    /// Those of its threads.
    pools: Mutex<Vec<Weak<Pool>>>,
    counts: Arc<Counts>,
    streams: Arc<Streams>,
    /// Where reads may go that need not be of this moment.
    replica: Option<Replica>,
    /// It is for a test, and removed with this. Where to connect for that.
    temporary: Option<(Config, String)>,
}

impl PerProcess {
    /// Finds out whether it can be reached, and runs the migrations that it lacks.
    pub(super) fn open(
        address: &str,
        source: Result<MigrationSource, Problem>,
        options: Options,
        offload: Arc<dyn Offload>,
        (carefully, temporary): (bool, bool),
    ) -> Result<Arc<Self>, OpenError> {
        let started = Instant::now();
        let shared = Self::of(address, options, offload)?;
        let shown_address = shared.shown_address.clone();
        let open = || {
            let source = source?;
            let shared = if temporary { shared.into_temporary()? } else { shared };
            let shared = Arc::new(shared);
            let remote = BlockingConnection::open(&shared)?;
            migrate::run(&remote, source, carefully)?;
            Ok(shared)
        };
        open().map_err(|problem| OpenError::new(&shown_address, problem, started.elapsed()))
    }

    /// Says what [`open`](Self::open) would find wrong with the addresses and the migrations that ran.
    pub(super) fn check(
        address: &str,
        source: Result<MigrationSource, Problem>,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Result<(), OpenError> {
        let started = Instant::now();
        let shared = Arc::new(Self::of(address, options, offload)?);
        let check = || migrate::check(&BlockingConnection::open(&shared)?, source?);
        check().map_err(|problem| OpenError::new(&shared.shown_address, problem, started.elapsed()))
    }

    /// A line for each migration, for people.
    pub(super) fn describe_migrations(
        address: &str,
        source: Result<MigrationSource, Problem>,
        offload: Arc<dyn Offload>,
    ) -> Result<Vec<String>, OpenError> {
        let started = Instant::now();
        let shared = Arc::new(Self::of(address, Options::new(), offload)?);
        let describe = || migrate::describe(&BlockingConnection::open(&shared)?, source?);
        describe().map_err(|problem| OpenError::new(&shared.shown_address, problem, started.elapsed()))
    }

    /// With its replica, if the options name one. Connections to both are opened when they are needed.
    fn with_replica(mut self) -> Result<Self, OpenError> {
        if let Some(address) = self.options.replica.take() {
            let (options, offload) = (self.options.clone(), Arc::clone(&self.offload));
            let replica = Self::named("the replica", &address.0, options, offload)?;
            // What one server has replayed, another behind the same address may lack.
            if replica.config.get_hosts().len() > 1 {
                let problem = Problem::Address("expected the address of a replica on one host".to_owned());
                return Err(OpenError::new(&replica.shown_address, problem, Duration::ZERO));
            }
            self.replica = Some(Replica::new(Arc::new(replica), self.options.replica_lag));
        }
        Ok(self)
    }

    fn of(address: &str, options: Options, offload: Arc<dyn Offload>) -> Result<Self, OpenError> {
        Self::named("PostgreSQL", address, options, offload)?.with_replica()
    }

    fn named(name: &str, address: &str, options: Options, offload: Arc<dyn Offload>) -> Result<Self, OpenError> {
        let wrong = |problem| OpenError::new(&PathBuf::from(name), Problem::Address(problem), Duration::ZERO);
        let address::Address { config, shown: shown_address, authorities, cancels } =
            address::parse(address).map_err(wrong)?;
        let tls = tls::Tls::new(authorities.as_deref()).map_err(wrong)?;
        Ok(Self::new(config, tls, cancels, shown_address, options, offload))
    }

    fn new(
        config: Config,
        tls: tls::Tls,
        cancels: bool,
        shown_address: PathBuf,
        options: Options,
        offload: Arc<dyn Offload>,
    ) -> Self {
        let (on_commit, pools, counts) = Default::default();
        let streams = Streams::new(options.streams);
        let (replica, temporary) = (None, None);
        Self {
            config,
            tls,
            cancels,
            shown_address,
            options,
            offload,
            on_commit,
            pools,
            counts,
            streams,
            replica,
            temporary,
        }
    }

    /// A new database beside the one that the address names.
    fn into_temporary(mut self) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("skep_test_{}_{number}", std::process::id());
        let at = self.config.clone();
        on(&self, &at, format!("drop database if exists {name} with (force)"))?;
        on(&self, &at, format!("create database {name}"))?;
        self.config.dbname(&name);
        if let Some(replica) = self.replica.as_mut().and_then(|replica| Arc::get_mut(&mut replica.shared)) {
            replica.config.dbname(&name);
        }
        self.temporary = Some((at, name));
        Ok(self)
    }

    pub(super) fn pool(self: &Arc<Self>) -> Arc<Pool> {
        let pool = Pool::new(Arc::clone(self));
        let mut pools = lock(&self.pools);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool));
        pool
    }

    /// What was written is committed.
    async fn announce(&self, tables: Vec<&'static str>) {
        let Some(then) = self.on_commit.get().filter(|_| !tables.is_empty()).cloned() else { return };
        if !then.blocks() {
            then.tables_changed(&tables);
            return;
        }
        // Should the queue for what blocks be full, nobody else can be asked to do it either.
        if let Err(lost) = offload_to_end(&*self.offload, move || then.tables_changed(&tables)).await {
            tracing::error!(target: "skep::sql", "a write is committed, and no page that shows it is invalidated: {lost}");
        }
    }
}

impl Drop for PerProcess {
    fn drop(&mut self) {
        if let Some((at, name)) = self.temporary.take() {
            // A test that was ended leaves it to the next one with its number.
            _ = on(self, &at, format!("drop database if exists {name} with (force)"));
        }
    }
}

/// Runs one statement on another database of the same server.
fn on(shared: &PerProcess, at: &Config, text: String) -> Result<()> {
    let (tls, shown_address) = (shared.tls.clone(), shared.shown_address.clone());
    let (options, offload) = (shared.options.clone(), Arc::clone(&shared.offload));
    let there = Arc::new(PerProcess::new(at.clone(), tls, shared.cancels, shown_address, options, offload));
    BlockingConnection::open(&there)?.run(move |connection| async move { connection.batch(&text).await })?
}

/// What is run of a query.
pub(super) fn bound<T>(query: Query<'_, T>) -> Result<BoundStatement<'_>> {
    let (text, is_own) = (query.text().into(), query.is_own());
    let may_write_any =
        query.checked().is_some_and(|checked| checked.writes().iter().any(|(table, _)| *table == ANY_TABLE));
    let values = query.into_values(Dialect::Postgres)?;
    Ok(BoundStatement { text, values, is_own, may_write_any, is_of_guest: false })
}
