//! Statements of many tasks on several threads, whose answers are a function of what they ask for, while clients leave
//! and backends are killed.
//!
//! As many as `SKEP_STATEMENTS` says, or 20,000. Each key has a row that says what its key is, and how often it was
//! counted up. No answer may be that of another key, nothing may wait for ever, and every failure is a 503.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use skep::sql::{Database, Error, Local, Options, query};
use tokio::time::{sleep, timeout};

use crate::{database, on_runtime, shared};

const THREADS: u64 = 4;
const TASKS: u64 = 32;
const KEYS: u64 = 1000;

/// What the table has for each key, and what may be asked.
type Pair = (i64, String);

#[derive(Default)]
struct Tally {
    asked: AtomicU64,
    failed: AtomicU64,
    left: AtomicU64,
    is_over: AtomicBool,
}

/// A linear congruential generator: the numbers need not be good.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn value(key: i64) -> String {
    format!("value of {key}")
}

/// One of the things that requests do. It panics if an answer is wrong.
async fn ask(db: &Local, kind: u64, key: i64) -> Result<(), Error> {
    let row = (key, value(key));
    match kind {
        // Most of all, reads that share a connection. Two columns, so that an answer cannot be half of another one.
        0..=59 => {
            let asked = query("select key, value from counted where key = ?", key);
            assert_eq!(db.one::<Pair>(asked).await?, Some(row));
        }
        60..=69 => {
            let asked =
                query("select a, 'value of ' || a from generate_series(?::bigint, ?::bigint) a", (key, key + 9));
            let expected: Vec<Pair> = (key..key + 10).map(|key| (key, value(key))).collect();
            assert_eq!(db.all::<Pair>(asked).await?, expected);
        }
        70..=79 => {
            let write = query("update counted set count = count + 1 where key = ? returning key, value", key);
            assert_eq!(db.one::<Pair>(write).await?, Some(row));
        }
        80..=84 => {
            let lock = query("select key, value from counted where key = ? for update", key);
            assert_eq!(db.one::<Pair>(lock).await?, Some(row));
        }
        85..=96 => transaction(db, key, kind.is_multiple_of(2)).await?,
        // What some leave before its end.
        _ => {
            let slow = query("select ?::bigint, 'value of ' || ?::bigint from pg_sleep(0.2)", (key, key));
            assert_eq!(db.one::<Pair>(slow).await?, Some(row));
        }
    }
    Ok(())
}

/// Changes a row twice and reads it in between, here and outside.
async fn transaction(db: &Local, key: i64, commits: bool) -> Result<(), Error> {
    let count = || query("select count from counted where key = ?", key);
    let add = || query("update counted set count = count + 1, twice = twice + 1 where key = ? returning count", key);
    let transaction = db.transaction().await?;
    let first = transaction.one::<i64>(add()).await?;
    let outside = db.one::<i64>(count()).await?;
    let second = transaction.one::<i64>(add()).await?;
    // Now it is certain that the row was locked all the time.
    assert_eq!(outside.map(|count| count + 1), first, "nobody else sees what is not committed");
    assert_eq!(first.map(|count| count + 1), second);
    assert_eq!(transaction.one::<i64>(count()).await?, second);
    if commits { transaction.commit().await } else { transaction.rollback().await }
}

async fn task(db: Local, tally: Arc<Tally>, seed: u64, most: u64) {
    let mut random = Random(seed);
    random.below(1);
    while tally.asked.fetch_add(1, Ordering::Relaxed) < most {
        let key = i64::try_from(random.below(KEYS)).unwrap();
        let asked = ask(&db, random.below(100), key);
        // Every twentieth client leaves on the way.
        if random.below(20) == 0 {
            let patience = Duration::from_millis(random.below(150));
            tally.left.fetch_add(u64::from(timeout(patience, asked).await.is_err()), Ordering::Relaxed);
            continue;
        }
        let answer = timeout(Duration::from_secs(45), asked).await;
        if let Err(error) = answer.unwrap_or_else(|_| panic!("a statement for {key} hangs")) {
            let said = error.to_string();
            assert_eq!(skep::Error::from(error).status(), 503, "{said}");
            tally.failed.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// All tasks of one thread, on its event loop.
fn run(database: &Database, tally: &Arc<Tally>, number: u64, most: u64) {
    on_runtime(async {
        let db = database.local();
        let seeds = number * TASKS..(number + 1) * TASKS;
        let tasks: Vec<_> =
            seeds.map(|seed| tokio::task::spawn_local(task(db.clone(), Arc::clone(tally), seed, most))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Ends three backends now and then.
fn kill(database: &Database, tally: &Tally) {
    let ends = "select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3";
    on_runtime(async {
        let db = database.local();
        while !tally.is_over.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(250)).await;
            _ = db.execute(ends).await;
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_answer_is_that_to_its_question_whatever_ends_meanwhile() {
    let most = std::env::var("SKEP_STATEMENTS").map_or(20_000, |number| number.parse().unwrap());
    let database = database(shared(), Options::new());
    database
        .write(|db| {
            db.execute("create table counted (key bigint primary key, value text not null, count bigint not null default 0, twice bigint not null default 0)")?;
            db.execute(query("insert into counted select a, 'value of ' || a from generate_series(0, ?::bigint) a", KEYS))
        })
        .unwrap();
    let (tally, start) = (Arc::<Tally>::default(), Instant::now());
    std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill(&database, &tally));
        let (database, tally) = (&database, &tally);
        let threads: Vec<_> =
            (0..THREADS).map(|number| scope.spawn(move || run(database, tally, number, most))).collect();
        let ended: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        tally.is_over.store(true, Ordering::Relaxed);
        killer.join().unwrap();
        ended.into_iter().for_each(Result::unwrap);
    });
    let [asked, failed, left] = [&tally.asked, &tally.failed, &tally.left].map(|count| count.load(Ordering::Relaxed));
    println!("{asked} in {:?}: {failed} failed, {left} were left", start.elapsed());
    assert!(failed * 10 < asked, "{failed} of {asked} failed");
    assert!(left > 0, "nobody left");
    // All of a transaction, or nothing.
    let halves = database.write(|db| db.one::<i64>("select count(*) from counted where twice % 2 <> 0")).unwrap();
    assert_eq!(halves, Some(0));
}
