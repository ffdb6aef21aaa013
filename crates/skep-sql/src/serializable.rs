//! Transactions that see the database as if they were alone, and are run again where they were not.

use super::error::{Error, Result};
use super::{Local, Transaction};

/// How often one is begun. More conflicts in a row than this are a place where requests should queue instead.
const TRIES: usize = 10;

impl Local {
    /// Runs `work` in a transaction and commits it. What it reads stays true until then, as if there were no other
    /// requests: a rule over several rows, such as "one doctor is on call", cannot be broken by two requests that both
    /// have looked before.
    ///
    /// ```
    /// # use skep_sql::{self as sql, query};
    /// # async fn example(db: &sql::Local, doctor: i64) -> sql::Result<()> {
    /// let may_leave: sql::Result<bool> = db.serializable(async |db| {
    ///     let others = db.one::<i64>(query("select count(*) from doctor where on_call and id <> ?", doctor)).await?;
    ///     if others > Some(0) {
    ///         db.execute(query("update doctor set on_call = false where id = ?", doctor)).await?;
    ///     }
    ///     Ok(others > Some(0))
    /// }).await;
    /// println!("{}", may_leave?);
    /// # Ok(()) }
    /// ```
    ///
    /// On PostgreSQL, its level of isolation is `serializable`, and `work` is run again, up to 10 times, where
    /// PostgreSQL finds that others were in the way, or a deadlock: it should do nothing that is not undone with the
    /// transaction. On SQLite, all transactions are so, one after the other, and `work` runs once.
    ///
    /// # Errors
    /// That of `work`, with which all of it is undone, or of the database: [`is_busy`](Error::is_busy) if others were
    /// in the way each time.
    pub async fn serializable<T, E: From<Error>>(
        &self,
        work: impl AsyncFn(&Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        for _ in 1..TRIES {
            if let Some(value) = attempt(self.isolated().await?, &work).await? {
                return Ok(value);
            }
        }
        last(self.isolated().await?, &work).await
    }
}

impl super::Database {
    /// Runs `work` in a transaction as if nobody else used the database, and commits it: [`Local::serializable`].
    ///
    /// # Errors
    /// That of `work`, with which all of it is undone, or of the database: [`is_busy`](Error::is_busy) if others were
    /// in the way each time.
    pub async fn serializable<T, E: From<Error>>(
        &self,
        work: impl AsyncFn(&Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        for _ in 1..TRIES {
            if let Some(value) = attempt(self.isolated().await?, &work).await? {
                return Ok(value);
            }
        }
        last(self.isolated().await?, &work).await
    }
}

/// Runs `work` and commits. Nothing if others were in the way, and it is to be run again.
async fn attempt<T, E: From<Error>>(
    transaction: Transaction,
    work: &impl AsyncFn(&Transaction) -> Result<T, E>,
) -> Result<Option<T>, E> {
    let result = work(&transaction).await;
    if transaction.is_in_conflict() {
        transaction.rollback().await?;
        return Ok(None);
    }
    let value = result?;
    match transaction.commit().await {
        Err(error) if error.is_conflict() => Ok(None),
        committed => Ok(committed.map(|()| Some(value))?),
    }
}

/// Runs `work` and commits, and reports that others were in the way.
async fn last<T, E: From<Error>>(
    transaction: Transaction,
    work: &impl AsyncFn(&Transaction) -> Result<T, E>,
) -> Result<T, E> {
    let value = work(&transaction).await?;
    transaction.commit().await?;
    Ok(value)
}
