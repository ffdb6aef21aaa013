//! Savepoints: parts of a transaction that are undone without the rest.

use super::error::Error;
use super::query::query;
use super::{Blocking, Transaction};

impl Transaction {
    /// Runs `work`, and undoes what it wrote if it gives an error; what the transaction wrote before stays, and so does
    /// the transaction. One may be in another.
    ///
    /// ```
    /// # use skep_sql::{self as sql, query};
    /// # async fn example(db: &sql::Local, names: &[&str]) -> sql::Result<()> {
    /// let transaction = db.transaction().await?;
    /// for name in names {
    ///     let imported = transaction.savepoint(async || {
    ///         let author = transaction.execute(query("insert into author (name) values (?)", name)).await?.last_insert_id;
    ///         transaction.execute(query("insert into account (author) values (?)", author)).await
    ///     });
    ///     match imported.await {
    ///         // Neither of the two rows is there, and the next name is tried.
    ///         Err(error) if error.is_unique_violation() => {}
    ///         outcome => drop(outcome?),
    ///     }
    /// }
    /// transaction.commit().await
    /// # }
    /// ```
    ///
    /// If the future is dropped before it ends, all of the transaction is undone.
    ///
    /// # Errors
    /// That of `work`, or of the database.
    pub async fn savepoint<T, E: From<Error>>(&self, work: impl AsyncFnOnce() -> Result<T, E>) -> Result<T, E> {
        let mut open = Open { transaction: self, depth: self.deeper(), is_ended: false };
        let name = name(open.depth);
        self.execute(query(&format!("savepoint {name}"), ()).own()).await?;
        let result = work().await;
        if result.is_err() {
            // An error of the database may have undone all of it: then there is nothing to go back to, and nothing to
            // go on with.
            let undone = self.execute(query(&format!("rollback to {name}"), ()).own()).await;
            if undone.is_err() {
                return result;
            }
        }
        self.execute(query(&format!("release {name}"), ()).own()).await?;
        open.is_ended = true;
        result
    }
}

/// A savepoint that has begun.
struct Open<'t> {
    transaction: &'t Transaction,
    depth: u32,
    is_ended: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.transaction.set_depth(self.depth - 1);
        if !self.is_ended {
            self.transaction.abandon();
        }
    }
}

impl Blocking<'_> {
    /// Runs `work` in a [`transaction`](Self::transaction), and undoes what it wrote if it gives an error; what was
    /// written before stays. One may be in another.
    ///
    /// # Errors
    /// That of `work`, or of the database; outside of a transaction.
    pub fn savepoint<T, E: From<Error>>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, E>) -> Result<T, E> {
        self.depth += 1;
        let name = name(self.depth);
        let begun = self.execute(query(&format!("savepoint {name}"), ()).own());
        let result = begun.map_err(E::from).and_then(|_| self.within_savepoint(&name, work));
        self.depth -= 1;
        result
    }

    fn within_savepoint<T, E: From<Error>>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = work(self);
        if result.is_err() {
            self.execute(query(&format!("rollback to {name}"), ()).own())?;
        }
        self.execute(query(&format!("release {name}"), ()).own())?;
        result
    }
}

fn name(depth: u32) -> String {
    format!("skep_{depth}")
}
