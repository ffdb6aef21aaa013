//! Transactions, and statements from texts: what only tests of components ask for.

use skep::prelude::*;
use skep::sql::{self, Value, query};

/// Gives the frames of one hive to another, and says how many there are in all. It is undone if there is no such hive.
#[derive(Service)]
#[service(POST "/merge/{from}/{into}")]
pub(crate) struct Merge {
    from: String,
    into: String,
}

impl Handle for Merge {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Self { from, into } = &self;
        let merged = cx.db().serializable(async |db| {
            let frames = db.one(sql!(i64, "select frames from hive where name = ?", from)).await?.or_404()?;
            let noted = db.savepoint(async || {
                db.execute(sql!("update hive set note = 'merged' where name = ?", from)).await?;
                // No such column, so that the note is undone, and the transaction goes on.
                db.execute("update hive set colour = 'red'").await
            });
            let note: sql::Result<_> = noted.await;
            db.execute(sql!("delete from hive where name = ?", from)).await?;
            let frames = sql!("update hive set frames = frames + ? where name = ?", frames, into);
            if db.execute(frames).await?.rows == 0 {
                return Err(Error::not_found());
            }
            let all = db.one::<String>("select sum(frames) / 4.0 from hive").await?;
            Ok(format!("{} {all:?}", note.is_err()))
        });
        Ok(Response::text(merged.await?))
    }
}

/// Says what a statement gives, or why not.
#[derive(Service)]
#[service(POST "/ask")]
pub(crate) struct Ask {
    #[form]
    text: String,
}

impl Handle for Ask {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let rows = cx.db().all::<Value<'static>>(query(&self.text, ())).await;
        Ok(Response::text(match rows {
            Ok(rows) => format!("{rows:?}"),
            Err(error) => format!("{error} (busy {}, unique {})", error.is_busy(), error.is_unique_violation()),
        }))
    }
}
