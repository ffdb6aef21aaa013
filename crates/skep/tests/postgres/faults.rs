//! What goes wrong with a server, its connections and those who wait for them. Nobody gets the rows of another, nobody
//! waits for ever.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use skep::sql::kind::Any;
use skep::sql::{Error, FromValue, Local, Options, Unfit, Value, query};
use skep_cluster::Cluster;
use tokio::time::{sleep, timeout};

use crate::{shared, with};

/// What went wrong in a load, and how often the answer was right.
#[derive(Default)]
struct Tally {
    right: Cell<u32>,
    failed: Cell<u32>,
    stop: Cell<bool>,
}

/// Tasks that ask for rows which are a function of what they ask for, until they are stopped.
fn load(db: &Local, tasks: u64) -> (Rc<Tally>, Vec<tokio::task::JoinHandle<()>>) {
    let tally = Rc::<Tally>::default();
    let run = |task| {
        let (db, tally) = (db.clone(), Rc::clone(&tally));
        tokio::task::spawn_local(async move {
            let mut random = fastrand(task);
            while !tally.stop.get() {
                let key = i64::try_from(random() % 1_000_000).unwrap();
                let asked = query("select ?::bigint * 7, 'k' || ?::bigint", (key, key));
                let answer = timeout(Duration::from_secs(20), db.one::<(i64, String)>(asked)).await;
                match answer.expect("no statement hangs") {
                    Ok(row) => {
                        assert_eq!(row, Some((key * 7, format!("k{key}"))));
                        tally.right.set(tally.right.get() + 1);
                    }
                    Err(error) => {
                        assert!(is_of_the_server(&error), "{error}");
                        tally.failed.set(tally.failed.get() + 1);
                        sleep(Duration::from_millis(1)).await;
                    }
                }
            }
        })
    };
    let tasks = (0..tasks).map(run).collect();
    (tally, tasks)
}

async fn end(tally: &Tally, tasks: Vec<tokio::task::JoinHandle<()>>) {
    tally.stop.set(true);
    for task in tasks {
        task.await.unwrap();
    }
}

fn is_of_the_server(error: &Error) -> bool {
    let status = skep::Error::from(Error::other("x")).status();
    assert_eq!(status, 500);
    error.is_unreachable() || error.is_busy()
}

/// A linear congruential generator: the numbers need not be good.
fn fastrand(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// How many backends of this database are there that do not sleep in a pool.
pub(crate) async fn backends(db: &Local, which: &str) -> i64 {
    let text = format!(
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and {which}"
    );
    db.one::<i64>(&text).await.unwrap().unwrap()
}

pub(crate) async fn becomes(what: &str, is_so: impl AsyncFn() -> bool) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < Duration::from_secs(15), "{what}");
        sleep(Duration::from_millis(20)).await;
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn interleaved_statements_get_their_own_rows_over_few_connections() {
    with(shared(), Options::new(), async |db| {
        let (tally, tasks) = load(&db, 64);
        while tally.right.get() < 50_000 {
            sleep(Duration::from_millis(20)).await;
            assert!(backends(&db, "true").await < 4);
        }
        // Others are dropped on the way, among them some that PostgreSQL is asked to cancel.
        for nth in 0..200 {
            let asked = db.one::<i64>("select 1 from pg_sleep(0.3)");
            _ = timeout(Duration::from_millis(nth % 7), asked).await;
        }
        end(&tally, tasks).await;
        assert_eq!(tally.failed.get(), 0);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn killed_backends_cost_the_statements_that_they_had() {
    with(shared(), Options::new(), async |db| {
        let killer = with_killer(&db).await;
        let (tally, tasks) = load(&db, 32);
        becomes("statements succeed", async || tally.right.get() > 100).await;
        for _ in 0..20 {
            let before = tally.right.get();
            becomes("statements go on", async || tally.right.get() > before + 1000).await;
            // A transaction sees the backends that there were when it first looked.
            killer.execute("select pg_stat_clear_snapshot()").await.unwrap();
            killer
                .execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
                .await
                .unwrap();
        }
        let before = tally.right.get();
        becomes("statements succeed again", async || tally.right.get() > before + 1000).await;
        end(&tally, tasks).await;
        let (right, failed) = (tally.right.get(), tally.failed.get());
        assert!(failed > 0 && right > 10 * failed, "{right} right, {failed} failed");
    });
}

/// A connection of its own, which the killer does not kill.
async fn with_killer(db: &Local) -> skep::sql::Transaction {
    db.transaction().await.unwrap()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_restarted_cluster_is_found_again() {
    let mut cluster = Cluster::start();
    let database = crate::database(&cluster, Options::new());
    crate::on_runtime(async {
        let db = database.local();
        let (tally, tasks) = load(&db, 16);
        becomes("statements succeed", async || tally.right.get() > 100).await;
        cluster.stop();
        let failed = tally.failed.get();
        becomes("statements fail", async || tally.failed.get() > failed + 100).await;
        let error = db.transaction().await.unwrap_err();
        assert!(is_of_the_server(&error), "{error}");
        assert_eq!(skep::Error::from(error).status(), 503);
        cluster.start_again();
        let right = tally.right.get();
        becomes("statements succeed again", async || tally.right.get() > right + 100).await;
        end(&tally, tasks).await;
        db.transaction().await.unwrap().commit().await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_server_without_free_connections_is_a_503() {
    let cluster = Cluster::with(&["max_connections=5", "superuser_reserved_connections=0"]);
    let database = crate::database(&cluster, Options::new().transactions(8));
    crate::on_runtime(async {
        let db = database.local();
        let mut held = Vec::new();
        let error = loop {
            match db.transaction().await {
                Ok(transaction) => held.push(transaction),
                Err(error) => break error,
            }
        };
        assert_eq!(held.len(), 5);
        assert!(is_of_the_server(&error), "{error}");
        assert_eq!(skep::Error::from(error).status(), 503);
        assert!(is_of_the_server(&db.one::<i64>("select 1").await.unwrap_err()));
        held.pop().unwrap().rollback().await.unwrap();
        held.clear();
        becomes("there is room again", async || db.transaction().await.is_ok()).await;
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn writes_wait_for_the_connections_that_a_full_server_has_for_them() {
    let cluster = Cluster::with(&["max_connections=3", "superuser_reserved_connections=0"]);
    let database = crate::database(&cluster, Options::new().connections(16));
    crate::on_runtime(async {
        let db = database.local();
        let write = |key: i64| {
            let db = db.clone();
            let insert = query("insert into pair select ?::bigint, 'x' from pg_sleep(0.02)", key);
            tokio::task::spawn_local(async move { db.execute(insert).await })
        };
        let writes: Vec<_> = (0..40).map(write).collect();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_client_that_leaves_takes_its_read_along() {
    with(shared(), Options::new(), async |db| {
        let slow = db.one::<i64>("select 1 from pg_sleep(60)");
        assert!(timeout(Duration::from_millis(200), slow).await.is_err());
        // On the same connection, behind it, and again on another one, should the request to cancel the first one have
        // hit it.
        let start = Instant::now();
        assert_eq!(db.one::<i64>("select 2").await.unwrap(), Some(2));
        assert!(start.elapsed() < Duration::from_secs(10));

        // A write is ended, as it is on SQLite.
        let write = db.execute("insert into pair select 1, 'one' from pg_sleep(0.3)");
        assert!(timeout(Duration::from_millis(50), write).await.is_err());
        becomes("it is written", async || db.one::<i64>("select count(*) from pair").await.unwrap() == Some(1)).await;

        // A transaction is undone.
        let transaction = db.transaction().await.unwrap();
        transaction.execute("delete from pair").await.unwrap();
        let slow = transaction.one::<i64>("select 1 from pg_sleep(60)");
        assert!(timeout(Duration::from_millis(100), slow).await.is_err());
        assert!(transaction.execute("delete from pair").await.is_err());
        assert!(transaction.commit().await.is_err());
        becomes("no transaction is open", async || backends(&db, "xact_start is not null").await == 0).await;
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(1));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_statement_that_takes_too_long_is_ended() {
    with(shared(), Options::new().statement_timeout(Duration::from_millis(100)), async |db| {
        let error = db.one::<i64>("select 1 from pg_sleep(60)").await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        assert_eq!(skep::Error::from(error).status(), 503);
        assert_eq!(db.one::<i64>("select 1").await.unwrap(), Some(1));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_table_may_change_under_a_prepared_statement() {
    with(shared(), Options::new(), async |db| {
        db.execute("insert into pair values (1, 'one')").await.unwrap();
        let all = async || db.all::<(i64, String)>("select * from pair").await;
        assert_eq!(all().await.unwrap().len(), 1);
        db.execute("alter table pair alter column value type varchar(10)").await.unwrap();
        assert_eq!(all().await.unwrap(), [(1, "one".to_owned())]);
        db.execute("alter table pair add column more int").await.unwrap();
        assert!(all().await.unwrap_err().to_string().contains("expected 2 columns, found 3"));
        // Within a transaction, the whole of it has to be tried again.
        let read = async || {
            let transaction = db.transaction().await.unwrap();
            transaction.all::<(i64, String, Option<i64>)>("select * from pair").await
        };
        assert_eq!(read().await.unwrap().len(), 1);
        becomes("the connection is given back", async || backends(&db, "state like 'idle in%'").await == 0).await;
        db.execute("alter table pair alter column value type text").await.unwrap();
        assert!(read().await.unwrap_err().is_busy());
        becomes("the connection is given back", async || backends(&db, "state like 'idle in%'").await == 0).await;
        assert_eq!(read().await.unwrap().len(), 1);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_read_never_waits_behind_the_writes_of_others() {
    with(shared(), Options::new().connections(2), async |db| {
        db.execute("insert into pair values (1, 'one'), (2, 'two')").await.unwrap();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("update pair set value = 'mine' where key = 1").await.unwrap();
        let others =
            ["update pair set value = 'theirs' where key = 1", "select value from pair where key = 1 for update"];
        let wait = |nth: usize| {
            let db = db.clone();
            tokio::task::spawn_local(async move { db.all::<String>(others[nth % 2]).await })
        };
        let writes: Vec<_> = (0..8).map(wait).collect();
        becomes("one waits for the row", async || backends(&db, "wait_event_type = 'Lock'").await > 0).await;
        for _ in 0..20 {
            let read = db.one::<String>("select value from pair where key = 1");
            let read = timeout(Duration::from_secs(5), read).await.expect("it does not wait");
            assert_eq!(read.unwrap().as_deref(), Some("one"));
        }
        transaction.commit().await.unwrap();
        for write in writes {
            write.await.unwrap().unwrap();
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_late_request_to_cancel_hits_nobody_else() {
    with(shared(), Options::new().connections(2).transactions(1), async |db| {
        for key in 0..10_i64 {
            let slow = async || db.one::<i64>("select 1 from pg_sleep(60)").await;
            assert!(timeout(Duration::from_millis(5), slow()).await.is_err());
            let transaction = db.transaction().await.unwrap();
            let slow = transaction.one::<i64>("select 1 from pg_sleep(60)");
            assert!(timeout(Duration::from_millis(5), slow).await.is_err());
            drop(transaction);
            // It has the one place for transactions until the other one is cancelled.
            let transaction = db.transaction().await.unwrap();
            transaction.execute(query("insert into pair values (?, 'x')", key)).await.unwrap();
            transaction.commit().await.unwrap();
            let mut rows = db.stream::<i64>("select a from generate_series(1, 1000) a").await.unwrap();
            while rows.next_row().await.unwrap().is_some() {}
        }
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(10));
        becomes("the slow ones are over", async || backends(&db, "state <> 'idle'").await == 0).await;
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn who_waits_for_a_connection_waits_as_long_as_a_statement_may_take() {
    let options = Options::new().transactions(1).streams(2).statement_timeout(Duration::from_millis(200));
    with(shared(), options, async |db| {
        let stream = async || db.stream::<i64>("select a from generate_series(1, 100000) a").await;
        let (one, two) = (stream().await.unwrap(), stream().await.unwrap());
        assert!(stream().await.is_err_and(|error| error.is_busy()));
        // Clients that read slowly keep nobody from a transaction.
        let transaction = db.transaction().await.unwrap();
        let error = db.transaction().await.unwrap_err();
        assert!(error.is_busy() && error.to_string().contains("no connection was free"), "{error}");
        transaction.commit().await.unwrap();
        db.transaction().await.unwrap().commit().await.unwrap();
        drop((one, two));
        becomes("streams are free again", async || stream().await.is_ok()).await;
    });
}

/// Each of them takes less time than it may, and all of them together on two connections do not.
#[test]
#[ignore = "needs PostgreSQL"]
fn who_is_behind_slow_reads_waits_as_long_as_a_statement_may_take() {
    let options = Options::new().connections(2).statement_timeout(Duration::from_millis(400));
    with(shared(), options, async |db| {
        let start = Instant::now();
        let reads: Vec<_> = (0..40)
            .map(|_| {
                let db = db.clone();
                tokio::task::spawn_local(async move { db.one::<i64>("select 1 from pg_sleep(0.2)").await })
            })
            .collect();
        let (mut right, mut late) = (0, 0);
        for read in reads {
            match read.await.unwrap() {
                Ok(one) => right += i32::from(one == Some(1)),
                Err(error) => {
                    assert!(error.is_busy() && error.to_string().contains("no connection was free"), "{error}");
                    late += 1;
                }
            }
        }
        assert!(right > 0 && late > 0 && right + late == 40, "{right} right, {late} late");
        assert!(start.elapsed() < Duration::from_secs(3), "all 40 would take 4 s");
        becomes("reads succeed again", async || db.one::<i64>("select 1").await.is_ok()).await;
    });
}

/// A value that cannot be read.
pub(crate) struct Bomb;

impl FromValue for Bomb {
    type Sql = Any;

    fn from_value(_: Value<'_>) -> Result<Self, Unfit> {
        panic!("a bomb")
    }
}

/// Work that went on after a panic would panic again, in a detached task.
#[test]
#[ignore = "needs PostgreSQL"]
fn rows_that_panic_when_they_are_read_leave_their_connection_as_it_was() {
    static RESUMED: AtomicUsize = AtomicUsize::new(0);
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        RESUMED.fetch_add(usize::from(info.to_string().contains("resumed after panicking")), Ordering::Relaxed);
        tell(info);
    }));
    let cluster = Cluster::start();
    let database = crate::database(&cluster, Options::new().connections(2).transactions(1));
    crate::on_runtime(async {
        let db = database.local();
        for text in ["select 1", "insert into pair values (1, 'a') returning key"] {
            let task = tokio::task::spawn_local({
                let db = db.clone();
                async move { db.one::<Bomb>(text).await.map(drop) }
            });
            assert!(task.await.unwrap_err().is_panic());
        }
        becomes("no connection is busy", async || number(&database, "busy") == 0).await;
        assert_eq!(db.one::<i64>("select 1").await.unwrap(), Some(1));
        assert_eq!(db.execute("insert into pair values (2, 'b')").await.unwrap().rows, 1);
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(2), "what was written stays");
        assert_eq!(number(&database, "connections"), 2);
    });
    assert_eq!(RESUMED.load(Ordering::Relaxed), 0);
}

/// A value of the status.
fn number(database: &skep::sql::Database, key: &str) -> u64 {
    let [part] = &database.status()[..] else { panic!("one pool of connections") };
    assert_eq!(part.name(), "pool postgres");
    match part.values().find(|(known, _)| *known == key) {
        Some((_, skep::status::Value::Number(number))) => *number,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn the_status_tells_what_connections_of_all_threads_do_and_who_waits() {
    let mut cluster = Cluster::start();
    let database = crate::database(&cluster, Options::new().connections(2).transactions(1));
    let of = |keys: [&str; 3]| keys.map(|key| number(&database, key));
    crate::on_runtime(async {
        // As two threads have them.
        let (db, other) = (database.local(), database.local());
        let opened = number(&database, "opened");
        assert_eq!(of(["connections", "busy", "waiting"]), [0, 0, 0], "none is open that nobody needs");
        assert_eq!(db.one::<i64>("select 1").await.unwrap(), Some(1));
        assert_eq!(of(["connections", "busy", "waiting"]), [1, 0, 0]);

        let transaction = db.transaction().await.unwrap();
        let waiting = tokio::task::spawn_local({
            let db = db.clone();
            async move { db.transaction().await.unwrap().rollback().await }
        });
        let slow = tokio::task::spawn_local(async move { other.one::<i64>("select 1 from pg_sleep(2)").await });
        becomes("they are busy", async || of(["connections", "busy", "waiting"]) == [3, 2, 1]).await;
        transaction.rollback().await.unwrap();
        waiting.await.unwrap().unwrap();
        slow.await.unwrap().unwrap();
        becomes("all are idle", async || of(["connections", "busy", "waiting"]) == [2, 0, 0]).await;
        assert_eq!(of(["opened", "lost", "failed"]), [opened + 3, 0, 0], "that of a thread that is gone was closed");

        cluster.stop();
        becomes("they are lost", async || {
            _ = db.one::<i64>("select 1").await;
            number(&database, "lost") == 2 && number(&database, "failed") > 0
        })
        .await;
        assert_eq!(number(&database, "connections"), 0);
        cluster.start_again();
        becomes("one is opened again", async || db.one::<i64>("select 1").await.is_ok()).await;
        assert_eq!(of(["connections", "busy", "lost"]), [1, 0, 2]);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_write_that_waits_for_its_own_tasks_transaction_is_an_error_after_the_time_of_a_statement() {
    let database = crate::database(shared(), Options::new().statement_timeout(Duration::from_secs(2)));
    crate::on_runtime(async {
        database.execute("insert into pair (key, value) values (1, 'a')").await.unwrap();
        let transaction = database.transaction().await.unwrap();
        transaction.execute("update pair set value = 'b' where key = 1").await.unwrap();
        let error = database.execute("update pair set value = 'c' where key = 1").await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        database.execute("insert into pair (key, value) values (2, 'a')").await.expect("it waits for no row");
        transaction.commit().await.unwrap();
        assert_eq!(database.one("select value from pair where key = 1").await.unwrap(), Some("b".to_owned()));
    });
}
