//! A server that hangs: it keeps its connections, and answers nothing. Everybody is answered in time, and all places
//! are free again.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::{self, Local, Options, query};
use skep::test::Client;
use skep::{Secret, Setup};
use skep_cluster::Cluster;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;

use crate::faults::{backends, becomes};
use crate::{MIGRATIONS, with};

/// Far more than the time that is promised, and far less than for ever.
const PATIENCE: Duration = Duration::from_secs(20);

fn options() -> Options {
    Options::new().connections(6).transactions(3).statement_timeout(Duration::from_millis(700))
}

type Asked = (&'static str, JoinHandle<sql::Result<()>>);

/// What each of them fails with.
async fn failures(asked: Vec<Asked>) -> Vec<(&'static str, sql::Error)> {
    let mut failures = Vec::new();
    for (what, asked) in asked {
        let outcome = timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("{what} waits for ever")).unwrap();
        failures.push((what, outcome.expect_err(what)));
    }
    failures
}

/// Statements of every kind, all at once, each by itself.
fn ask_everything(db: &Local) -> Vec<Asked> {
    type Work = fn(Local) -> Pin<Box<dyn Future<Output = sql::Result<()>>>>;
    let kinds: [(&str, Work); 8] = [
        ("a read", |db| Box::pin(async move { db.one::<i64>("select count(*) from pair").await.map(drop) })),
        ("a read of a new text", |db| Box::pin(async move { db.one::<i64>("select 4711").await.map(drop) })),
        ("a write", |db| Box::pin(async move { db.execute("insert into pair values (3, 'x')").await.map(drop) })),
        ("a write of a new text", |db| {
            Box::pin(async move { db.all::<i64>("update pair set value = 'x' returning key").await.map(drop) })
        }),
        ("a read that may wait", |db| {
            Box::pin(async move { db.all::<i64>("select key from pair for update").await.map(drop) })
        }),
        ("begin", |db| Box::pin(async move { db.transaction().await.map(drop) })),
        ("a stream", |db| Box::pin(async move { db.stream::<i64>("select 1").await.map(drop) })),
        ("listen", |db| Box::pin(async move { db.listen("channel").await.map(drop) })),
    ];
    kinds.map(|(what, work)| (what, spawn_local(work(db.clone())))).into()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_that_hangs_is_answered_for_in_time_and_used_again() {
    let cluster = Cluster::start();
    with(&cluster, options(), async |db| {
        // There are connections that nobody knows to hang.
        db.execute("insert into pair values (0, 'before')").await.unwrap();
        db.execute("insert into pair values (3, 'before') on conflict do nothing").await.unwrap();
        let (to_commit, to_use) = (db.transaction().await.unwrap(), db.transaction().await.unwrap());
        to_commit.execute("insert into pair values (1, 'committed')").await.unwrap();
        to_use.execute("insert into pair values (2, 'undone')").await.unwrap();
        let mut rows = db.stream::<i64>("select a from generate_series(1, 1000) a").await.unwrap();
        rows.next_row().await.unwrap();
        let frozen = cluster.freeze();
        let mut asked = ask_everything(&db);
        asked.push(("commit", spawn_local(async move { to_commit.commit().await })));
        asked.push((
            "a statement of a transaction",
            spawn_local(async move { to_use.execute("update pair set value = 'y'").await.map(drop) }),
        ));
        asked.push((
            "the rest of a stream",
            spawn_local(async move {
                while rows.next_row().await?.is_some() {}
                Ok(())
            }),
        ));
        for (what, error) in failures(asked).await {
            assert!(error.is_unreachable() || error.is_busy(), "{what}: {error}");
            assert!(!error.is_in_doubt() || ["a write", "commit"].contains(&what), "{what}: {error}");
            assert!(error.is_in_doubt() || !["commit"].contains(&what), "{what}: {error}");
            assert_eq!(skep::Error::from(error).status(), 503, "{what}");
        }
        // More than there are places, again and again: none is held by those before.
        for round in 0..2 {
            let write = |nth: i64| {
                let (db, key) = (db.clone(), 100 + 10 * round + nth);
                let write =
                    async move { db.execute(query("insert into pair values (?, 'many')", key)).await.map(drop) };
                ("one of many writes", spawn_local(write))
            };
            failures((0..8).map(write).collect()).await;
        }
        drop(frozen);
        becomes("it is used again", async || db.execute("insert into pair values (200, 'after')").await.is_ok()).await;
        becomes("nothing is left open", async || backends(&db, "xact_start is not null").await == 0).await;
        becomes("those that hung are closed", async || backends(&db, "true").await <= 9).await;
        let undone = db.one::<String>("select value from pair where key = 2").await.unwrap();
        assert_eq!(undone, None, "what was not committed");
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into pair values (201, 'after')").await.unwrap();
        transaction.commit().await.unwrap();
        drop(db.listen("channel").await.unwrap());
    });
}

/// A client that leaves holds no place either.
#[test]
#[ignore = "needs PostgreSQL"]
fn an_abandoned_write_that_hangs_holds_no_connection() {
    let cluster = Cluster::start();
    with(&cluster, options().connections(2), async |db| {
        db.execute("insert into pair values (0, 'before')").await.unwrap();
        let frozen = cluster.freeze();
        let left = timeout(Duration::from_millis(20), db.execute("insert into pair values (1, 'left')")).await;
        assert!(left.is_err(), "it hangs");
        // It waits for the one place, and gets it.
        let next = db.execute("insert into pair values (2, 'next')").await.unwrap_err();
        assert!(next.is_busy() || next.is_unreachable(), "{next}");
        drop(frozen);
        becomes("it is used again", async || db.execute("insert into pair values (3, 'after')").await.is_ok()).await;
    });
}

#[derive(Service)]
#[service(GET "/pairs")]
struct Pairs;

impl PublicPage for Pairs {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let values = cx.db().all::<String>("select value from pair order by key").await?;
        Ok(Response::text(values.join(",")))
    }
}

#[derive(Service)]
#[service(POST "/pairs/{key}")]
struct Add {
    key: i64,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let value = format!("v{}", self.key);
        cx.db().execute(query("insert into pair values (?, ?)", (self.key, &value))).await?;
        Ok(Response::text(value))
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_write_in_doubt_says_so_and_pages_show_what_became_of_it() {
    let cluster = Cluster::start();
    let mut setup = Setup::default();
    (setup.database, setup.temporary_database) = (Some(Secret::new(cluster.address())), true);
    setup.sql = options();
    let site = Arc::new(App::new().serve(services![Pairs, Add]).database(MIGRATIONS).open(setup).unwrap());
    let client = Client::of_site(&site);
    let rows = || site.db().write(|db| db.all::<String>("select value from pair order by key")).unwrap().join(",");
    for key in 1..=3 {
        assert_eq!(client.post(&format!("/pairs/{key}0"), &[]).status(), 200);
        let page = client.get("/pairs").text().to_owned();
        let frozen = cluster.freeze();
        assert_eq!(client.get("/pairs").text(), page, "it is cached");
        let failed = client.post(&format!("/pairs/{key}"), &[]);
        assert_eq!((failed.status().as_u16(), failed.header("retry-after")), (503, Some("5")));
        assert!(failed.text().contains("it is not known whether what you sent was saved"), "{}", failed.text());
        drop(frozen);
        let start = std::time::Instant::now();
        while client.get("/pairs").text() != rows() || client.post(&format!("/pairs/{key}1"), &[]).status() != 200 {
            assert!(start.elapsed() < PATIENCE, "{} and not {}", client.get("/pairs").text(), rows());
        }
        assert_eq!(client.get("/pairs").text(), rows());
    }
}
