//! The interface `sql`: the database of an application.
//!
//! A statement runs where a native handler's would: a short read on the thread of the request, others on the pool.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use skep::offload::offload;
use skep::sql::{Database, Error, Local, Packed};
use wasmtime::Result;
use wasmtime::component::{Linker, WasmList, WasmStr};

use super::{Application, Guest, Instance};

/// An open database with all of these migrations.
#[derive(Debug)]
pub(crate) struct Opened {
    number: u64,
    database: Database,
    wanted: Wanted,
}

/// The migrations of a version, and the framework's tables.
type Wanted = (Vec<(u32, String, String)>, Vec<String>);

/// The database of the last version.
#[derive(Debug, Default)]
pub(super) struct Slot(Mutex<Option<Arc<Opened>>>);

type Failure = (i32, String);

/// A failure that is not of a statement.
fn failed(problem: impl ToString) -> Failure {
    (0, problem.to_string())
}

thread_local! {
    /// The connections of this thread.
    static LOCALS: RefCell<Vec<(Weak<Opened>, Local)>> = const { RefCell::new(Vec::new()) };
}

impl Opened {
    /// A version has one database: each opening takes connections and runs migrations.
    fn serves(&self, wanted: &Wanted) -> Result<(), String> {
        if self.wanted == *wanted {
            return Ok(());
        }
        Err("the database of this version is open, with other migrations: they are the same in every instance of it"
            .into())
    }

    /// Runs `work` with the connections of this thread.
    fn here<R>(self: &Arc<Self>, work: impl FnOnce(&Local) -> R) -> R {
        let known = |(opened, _): &(Weak<Self>, Local)| std::ptr::eq(opened.as_ptr(), Arc::as_ptr(self));
        // Drops those of retired versions.
        if LOCALS.with_borrow(|locals| locals.iter().any(|(opened, _)| opened.strong_count() == 0)) {
            LOCALS.with_borrow_mut(|locals| locals.retain(|(opened, _)| opened.strong_count() > 0));
        }
        let local = LOCALS.with_borrow(|locals| locals.iter().find(|one| known(one)).map(|(_, local)| local.clone()));
        let local = local.unwrap_or_else(|| {
            let local = self.database.local();
            LOCALS.with_borrow_mut(|locals| locals.push((Arc::downgrade(self), local.clone())));
            local
        });
        work(&local)
    }

    async fn run(self: &Arc<Self>, place: u8, packed: Packed) -> Result<Vec<u8>, Error> {
        let elsewhere = match self.here(|local| local.packed_now(&packed, place == WRITER)) {
            Ok(bytes) => return Ok(bytes),
            Err(elsewhere) => elsewhere,
        };
        let packed = Arc::new(packed);
        let (result, took) = elsewhere.run(&packed).await;
        if let Some(took) = took {
            self.here(|local| local.packed_took(&packed, took));
        }
        result
    }
}

impl Drop for Opened {
    /// Closes the connections of this thread, with which a temporary database goes. Other threads close theirs when
    /// they open others.
    fn drop(&mut self) {
        let close = |locals: &RefCell<Vec<(Weak<Self>, Local)>>| {
            locals.try_borrow_mut().map(|mut locals| locals.retain(|(opened, _)| opened.strong_count() > 0))
        };
        // When the thread ends, they are closed already.
        _ = LOCALS.try_with(close);
    }
}

/// The numbers of the interface.
const TRANSACTION: u8 = 1;
const WRITER: u8 = 2;
const BEGIN: u8 = 0;
const COMMIT: u8 = 1;
const ROLLBACK: u8 = 2;
const BEGIN_ALONE: u8 = 3;

impl Application {
    /// Opens the database for a version, unless the last one has the same migrations. It may wait for the disk.
    fn open(&self, wanted: Wanted) -> Result<Arc<Opened>, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut slot = skep_units::lock(&self.database.0);
        if let Some(opened) = slot.as_ref().filter(|opened| opened.wanted == wanted) {
            return Ok(Arc::clone(opened));
        }
        if let Some(address) = &self.hosted.setup().database {
            self.taken.take(address, &self.name)?;
        }
        let carefully = (slot.is_some() && !self.allow_breaking) || self.hosted.setup().careful;
        let database = self.hosted.open_database(&wanted.0, &wanted.1, carefully)?;
        let opened = Arc::new(Opened { number: NUMBER.fetch_add(1, Ordering::Relaxed), database, wanted });
        tracing::debug!(target: "skep::isolate", number = opened.number, "a database was opened");
        *slot = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Instance {
    fn opened(&self) -> Result<Arc<Opened>, Failure> {
        let version = self.version().map_err(failed)?;
        version
            .database
            .get()
            .cloned()
            .ok_or_else(|| failed("the database of this application was never opened, which its start-up code does"))
    }

    async fn open(&mut self, wanted: Wanted) -> Result<(), String> {
        let version = Arc::clone(self.version()?);
        if let Some(opened) = version.database.get() {
            return opened.serves(&wanted);
        }
        let application = Arc::clone(&version.application);
        let pool = Arc::clone(&application.hosted.setup().offload);
        let asked = wanted.clone();
        let opened = offload(&*pool, move || application.open(asked)).await.map_err(|lost| lost.to_string())??;
        // Two instances may start at once.
        version.database.get_or_init(|| opened).serves(&wanted)
    }

    async fn run(&mut self, place: u8, packed: Packed) -> Result<Vec<u8>, Failure> {
        if place == TRANSACTION {
            let transaction = self.transaction.as_mut().ok_or_else(|| failed("there is no transaction"))?;
            return transaction.packed(&Arc::new(packed)).await.map_err(|error| error.packed());
        }
        let opened = self.opened()?;
        let writes = place == WRITER || packed.executes();
        if self.transaction.is_some() && writes && opened.database.has_one_writer() {
            // It would wait for its own instance's transaction forever.
            return Err(failed(
                "a statement outside of the transaction would wait for the transaction of its own request",
            ));
        }
        opened.run(place, packed).await.map_err(|error| error.packed())
    }

    async fn step(&mut self, step: u8) -> Result<(), Failure> {
        match (step, self.transaction.take()) {
            (BEGIN | BEGIN_ALONE, None) => {
                let begun = self.opened()?.here(|local| local.packed_transaction(step == BEGIN_ALONE));
                self.transaction = Some(begun.await.map_err(|error| error.packed())?);
                Ok(())
            }
            (BEGIN | BEGIN_ALONE, Some(open)) => {
                self.transaction = Some(open);
                Err(failed("this request has a transaction already: an instance has one at a time"))
            }
            (COMMIT, Some(open)) => open.commit().await.map_err(|error| error.packed()),
            (ROLLBACK, Some(open)) => open.rollback().await.map_err(|error| error.packed()),
            (ROLLBACK, None) => Ok(()),
            _ => Err(failed("there is no transaction")),
        }
    }
}

/// Place, verb, statement, values.
type Run = (u8, u8, WasmStr, WasmList<u8>);

pub(super) fn add_to_linker<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    let mut sql = linker.instance("skep:host/sql@0.1.0")?;
    sql.func_wrap_async("open", |mut store, wanted: Wanted| {
        Box::new(async move { Ok((store.data_mut().services().open(wanted).await,)) })
    })?;
    sql.func_wrap_async("run", |mut store, (place, verb, statement, values): Run| {
        Box::new(async move {
            let (statement, values) = (statement.to_str(&store)?.into_owned(), values.as_le_slice(&store).to_vec());
            let result = match Packed::new(verb, statement, values) {
                Ok(packed) => store.data_mut().services().run(place, packed).await,
                Err(error) => Err(error.packed()),
            };
            Ok((result,))
        })
    })?;
    sql.func_wrap_async("transaction", |mut store, (step,): (u8,)| {
        Box::new(async move { Ok((store.data_mut().services().step(step).await,)) })
    })
}

#[cfg(test)]
#[path = "../../tests/unit/services/sql.rs"]
mod tests;
