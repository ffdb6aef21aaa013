//! A slow query stalls nobody but its own handler.

use std::time::{Duration, Instant};

use skep::sql::{Database, Options, query};
use tokio::task::{spawn_local, yield_now};
use tokio::time::timeout;

use crate::support::{COUNT, FOREVER, Folder, SCHEMA, Threads, run};

#[test]
fn while_a_query_takes_a_second_others_of_its_thread_are_answered() {
    run(async {
        let database = Database::temporary(&SCHEMA, Threads::start(2)).unwrap();
        let db = database.local();
        db.execute("insert into post (title) values ('a')").await.unwrap();
        assert_eq!(db.one::<i64>("select count(*) from post").await.unwrap(), Some(1));

        // A second of work on any machine: as much as it takes, stopped from outside.
        let slow = db.clone();
        let slow = spawn_local(async move {
            let endless = slow.one::<i64>(query(COUNT, FOREVER));
            timeout(Duration::from_secs(1), endless).await.is_err()
        });
        let (mut answers, mut longest) = (0, Duration::ZERO);
        while !slow.is_finished() {
            let asked = Instant::now();
            assert_eq!(db.one::<i64>("select count(*) from post").await.unwrap(), Some(1));
            yield_now().await;
            longest = longest.max(asked.elapsed());
            answers += 1;
        }
        assert!(slow.await.unwrap(), "it ran for its second");
        // Alone on a machine: 2 ms once, then some microseconds each. The limits leave room for a busy one.
        assert!(answers > 1000, "{answers} answers in a second");
        assert!(longest < Duration::from_millis(250), "one took {longest:?}");
    });
}

#[test]
fn a_short_query_never_leaves_its_thread() {
    run(async {
        let (folder, threads) = (Folder::new(), Threads::start(1));
        // Generous, because a busy machine takes its time even for this.
        let options = Options::new().inline_budget(Duration::from_millis(200));
        let db = Database::open(folder.file(), &SCHEMA, options, threads.clone()).unwrap().local();
        for _ in 0..100 {
            assert_eq!(db.one::<i64>(query(COUNT, 10)).await.unwrap(), Some(10));
        }
        assert_eq!(threads.taken(), 0);
    });
}

#[test]
fn a_stopped_query_is_run_again_from_the_start_and_answers_in_full() {
    run(async {
        let threads = Threads::start(1);
        let db = Database::temporary(&SCHEMA, threads.clone()).unwrap().local();
        let rows = "with recursive n (i) as (select 1 union all select i + 1 from n where i < ?) select i from n";
        let all: Vec<i64> = db.all(query(rows, 200_000)).await.unwrap();
        assert!(all.iter().copied().eq(1..=200_000));
        assert_eq!(threads.taken(), 1);
    });
}

#[test]
fn a_statement_that_became_quick_again_comes_back() {
    run(async {
        let threads = Threads::start(1);
        let db = Database::temporary(&SCHEMA, threads.clone()).unwrap().local();
        assert_eq!(db.one::<i64>(query(COUNT, 1_000_000)).await.unwrap(), Some(1_000_000));
        assert_eq!(threads.taken(), 1, "stopped, and run on the pool");
        // A run that a busy machine made slow starts the count again.
        let mut quick = 0;
        let mut before = 0;
        while threads.taken() != before {
            before = threads.taken();
            assert_eq!(db.one::<i64>(query(COUNT, 10)).await.unwrap(), Some(10));
            quick += 1;
            assert!(quick < 10_000);
        }
        assert!(quick > 8, "back after {quick} runs");
    });
}

#[test]
fn an_abandoned_query_is_stopped() {
    run(async {
        let folder = Folder::new();
        let options = Options::new().readers(1);
        let database = Database::open(folder.file(), &SCHEMA, options, Threads::start(1)).unwrap();
        let db = database.local();
        assert!(timeout(Duration::from_millis(20), db.one::<i64>(query(COUNT, FOREVER))).await.is_err());
        // The only reader and the only thread are free again, or this would wait forever.
        let next = timeout(Duration::from_secs(10), db.one::<i64>(query(COUNT, 10))).await;
        assert_eq!(next.expect("still waiting").unwrap(), Some(10));
    });
}

#[test]
fn slow_queries_share_their_readers_in_turn() {
    run(async {
        let folder = Folder::new();
        let options = Options::new().readers(2).inline_budget(Duration::ZERO);
        let db = Database::open(folder.file(), &SCHEMA, options, Threads::start(4)).unwrap().local();
        let asked = (0..20).map(|n| {
            let db = db.clone();
            spawn_local(async move { db.one::<i64>(query(COUNT, 20_000 + n)).await.unwrap().unwrap() })
        });
        let mut all = Vec::new();
        for query in asked.collect::<Vec<_>>() {
            all.push(query.await.unwrap());
        }
        assert!(all.into_iter().eq(20_000..20_020));
    });
}

#[test]
fn a_queue_that_is_full_answers_503_at_once() {
    run(async {
        let folder = Folder::new();
        let options = Options::new().waiting(1);
        let db = Database::open(folder.file(), &SCHEMA, options, Threads::start(1)).unwrap().local();
        let transaction = db.transaction().await.unwrap();
        let other = db.clone();
        let waiting = spawn_local(async move { other.execute("insert into post (title) values ('a')").await });
        yield_now().await;
        let error = db.execute("insert into post (title) values ('b')").await.unwrap_err();
        assert!(error.is_busy());
        assert_eq!(error.to_string(), "1 handlers wait for a connection already");
        assert_eq!(skep::Error::from(error).status(), 503);
        drop(transaction);
        assert!(waiting.await.unwrap().is_ok());
    });
}

#[test]
fn threads_write_at_once_and_nothing_is_lost() {
    let database = Database::temporary(&SCHEMA, Threads::start(2)).unwrap();
    let writers = (0..4).map(|thread| {
        let database = database.clone();
        std::thread::spawn(move || {
            run(async {
                let db = database.local();
                for nth in 0..50 {
                    let title = format!("{thread}-{nth}");
                    db.execute(query("insert into post (title) values (?)", &title)).await.unwrap();
                    let own = db.one::<i64>(query("select count(*) from post where title = ?", &title)).await.unwrap();
                    assert_eq!(own, Some(1), "a thread sees what it wrote");
                }
            });
        })
    });
    writers.collect::<Vec<_>>().into_iter().for_each(|writer| writer.join().unwrap());
    let count = database.write(|writer| writer.one::<i64>("select count(*) from post")).unwrap();
    assert_eq!(count, Some(200));
}
