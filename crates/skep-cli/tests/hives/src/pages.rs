//! Pages that are kept, and what changes what they show.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::Cursor;

/// How often pages were made.
static MADE: AtomicU32 = AtomicU32::new(0);

fn hour() -> EntryPolicy {
    EntryPolicy::new(Duration::from_hours(1))
}

#[derive(Service)]
#[service(GET "/hives")]
pub(crate) struct Hives;

impl PublicPage for Hives {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let hives = cx.db().one(sql!(i64, "select count(*) from hive")).await?;
        Ok(Response::text(format!("{hives:?} hives, made {}", MADE.fetch_add(1, Ordering::Relaxed))))
    }
}

#[derive(Service)]
#[service(GET "/visits")]
pub(crate) struct Visits;

impl PublicPage for Visits {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        // What `query` reads is not known.
        let visits = cx.db().one::<i64>("select count(*) from visit").await?;
        Ok(Response::text(format!("{visits:?} visits, made {}", MADE.fetch_add(1, Ordering::Relaxed))))
    }
}

#[derive(Service)]
#[service(POST "/hives/{names}")]
pub(crate) struct AddHive {
    /// With commas between.
    names: String,
}

impl Handle for AddHive {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let names: Vec<&str> = self.names.split(',').collect();
        let insert =
            sql!("insert into hive (name, frames) select name, 8 from unnest(?::text[]) as given (name)", names);
        cx.db().execute(insert).await?;
        Ok(Response::text("added"))
    }
}

#[derive(Service)]
#[service(POST "/visits")]
pub(crate) struct AddVisit;

impl Handle for AddVisit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(sql!("insert into visit (hive, healthy) select id, true from hive limit 1")).await?;
        Ok(Response::text("added"))
    }
}

/// Writes a table whose trigger writes another.
#[derive(Service)]
#[service(POST "/move")]
pub(crate) struct Move;

impl Handle for Move {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(sql!("insert into apiary (id, place) select count(*) + 1, 'meadow' from apiary")).await?;
        Ok(Response::text("moved"))
    }
}

/// Leads through the visits since a date, the latest first. Dates are texts, which PostgreSQL reads.
#[derive(Service)]
#[service(GET "/latest")]
pub(crate) struct Latest {
    #[query]
    at: Option<Cursor<(String, i64)>>,
    #[query]
    since: Option<String>,
}

impl Handle for Latest {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = sql!(
            "select id, at from visit where true"
            {if let Some(since) = &self.since: "and at >= ?", since}
            "order by at desc, id desc" {keyset 1: self.at}
        );
        let visits = cx.db().page(visits).await?;
        Ok(match visits.next.clone() {
            Some(at) => Response::see_other(Self { at: Some(at), since: self.since.clone() }),
            None => Response::text(format!("{} is the last one", visits.len())),
        })
    }
}
