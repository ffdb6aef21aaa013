//! Together or not at all.

use std::sync::Arc;
use std::time::Duration;

use skep::offload::Inline;
use skep::sql::{Database, Error, FromValue, Local, Options, Transaction, Unfit, Value, query};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use crate::support::{COUNT, FOREVER, Folder, SCHEMA, Threads, run};

fn database() -> Database {
    Database::temporary(&SCHEMA, Threads::start(2)).unwrap()
}

async fn count(db: &Local) -> i64 {
    db.one("select count(*) from post").await.unwrap().unwrap()
}

#[test]
fn what_is_committed_stays_and_is_seen_at_once() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        assert_eq!(transaction.one("select count(*) from post").await.unwrap(), Some(1));
        assert_eq!(count(&db).await, 0, "nobody else sees it yet");
        transaction.commit().await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn a_serializable_one_commits_what_succeeds_and_undoes_what_does_not() {
    run(async {
        let db = database().local();
        let add = |fails: bool| {
            db.serializable(async move |db| {
                db.execute("insert into post (title) values ('a')").await?;
                if fails { Err(skep::Error::not_found()) } else { Ok(()) }
            })
        };
        assert_eq!(add(true).await.unwrap_err().status(), 404);
        assert_eq!(count(&db).await, 0);
        add(false).await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn what_is_dropped_is_undone() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        drop(transaction);
        let next = db.transaction().await.unwrap();
        assert_eq!(next.one::<i64>("select count(*) from post").await.unwrap(), Some(0));
        next.execute("insert into post (title) values ('b')").await.unwrap();
        next.rollback().await.unwrap();
        assert_eq!(count(&db).await, 0);
    });
}

#[test]
fn a_failed_statement_leaves_the_transaction_open() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        let error = transaction.execute("insert into post (title) values ('a')").await.unwrap_err();
        assert!(error.is_unique_violation());
        transaction.commit().await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn who_writes_while_a_transaction_is_open_waits_without_blocking_the_thread() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        let other = db.clone();
        let waiting = spawn_local(async move { other.execute("insert into post (title) values ('late')").await });
        // Nothing may happen meanwhile.
        sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished());
        transaction.execute("insert into post (title) values ('early')").await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(waiting.await.unwrap().unwrap().last_insert_id, 2);
    });
}

#[test]
fn a_statement_that_is_abandoned_undoes_its_transaction_and_frees_the_writer() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        let slow = query(COUNT, FOREVER);
        assert!(timeout(Duration::from_millis(5), transaction.one::<i64>(slow)).await.is_err());
        let text = transaction.execute("insert into post (title) values ('b')").await.unwrap_err().to_string();
        assert!(text.starts_with("the transaction is over"), "{text}");
        assert_eq!(db.execute("insert into post (title) values ('c')").await.unwrap().rows, 1);
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn a_statement_begun_while_another_one_runs_is_an_error() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        let mut slow = Box::pin(transaction.one::<i64>(query(COUNT, FOREVER)));
        assert!(timeout(Duration::from_millis(5), slow.as_mut()).await.is_err());
        let text = transaction.execute("insert into post (title) values ('a')").await.unwrap_err().to_string();
        assert!(text.contains("one is still running"), "{text}");
        drop(slow);
        drop(transaction);
        db.execute("insert into post (title) values ('b')").await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn who_stops_waiting_leaves_the_queue() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        let impatient = timeout(Duration::from_millis(5), db.execute("insert into post (title) values ('a')"));
        assert!(impatient.await.is_err());
        drop(transaction);
        db.execute("insert into post (title) values ('b')").await.unwrap();
        assert_eq!(count(&db).await, 1, "who left wrote nothing");
    });
}

#[test]
fn a_panic_while_reading_is_an_error_and_frees_the_writer() {
    struct Explosive;

    impl FromValue for Explosive {
        type Sql = skep::sql::kind::Text;

        fn from_value(_: Value<'_>) -> Result<Self, Unfit> {
            panic!("boom")
        }
    }

    run(async {
        let db = database().local();
        let error = db.one::<Explosive>("insert into post (title) values ('a') returning id").await.err().unwrap();
        assert_eq!(error.to_string(), "work that was given to the pool panicked: boom");
        db.execute("insert into post (title) values ('b')").await.unwrap();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('c')").await.unwrap();
        assert!(transaction.one::<Explosive>("select 1").await.is_err());
        assert!(transaction.commit().await.is_err());
        let titles = db.all::<String>("select title from post where title > 'a'").await.unwrap();
        assert_eq!(titles, ["b"]);
    });
}

#[test]
fn a_statement_must_not_begin_or_end_a_transaction() {
    run(async {
        let db = database().local();
        for text in ["begin", "savepoint a"] {
            let read = db.all::<i64>(text).await.unwrap_err().to_string();
            assert!(read.starts_with("a statement must not begin or end a transaction"), "{read}");
            assert!(db.execute(text).await.is_err());
        }
        let transaction = db.transaction().await.unwrap();
        assert!(transaction.execute("rollback").await.is_err());
        assert!(transaction.execute("insert into post (title) values ('a')").await.is_err(), "not outside of it");
        drop(transaction);
        db.execute("insert into post (title) values ('b')").await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn several_statements_in_one_text_are_refused_and_none_runs() {
    run(async {
        let db = database().local();
        let text = "insert into post (title) values ('a'); delete from post";
        let error = db.execute(text).await.unwrap_err().to_string();
        assert!(error.starts_with("expected one statement, found several"), "{error}");
        assert_eq!(count(&db).await, 0);
    });
}

#[test]
fn blocking_code_has_the_same_verbs() {
    let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
    let undone = database.write(|writer| {
        writer.execute("insert into post (title) values ('a')")?;
        writer.transaction(|inner| -> Result<(), Error> {
            inner.execute("insert into post (title) values ('b')")?;
            Err(Error::other("enough"))
        })
    });
    assert_eq!(undone.unwrap_err().to_string(), "enough");
    let titles = database.write(|writer| writer.all::<String>("select title from post")).unwrap();
    assert_eq!(titles, ["a"]);
    let kept = database.write(|writer| {
        writer.transaction(|inner| inner.one::<i64>(query("insert into post (title) values (?) returning id", "c")))
    });
    assert_eq!(kept.unwrap(), Some(2));
    assert_eq!(database.write(|writer| writer.first::<i64>("select count(*) from post")).unwrap(), Some(2));
}

#[test]
fn blocking_code_waits_for_its_turn() {
    let database = database();
    let importing = database.clone();
    let mut import = None;
    run(async {
        let transaction = database.local().transaction().await.unwrap();
        import = Some(std::thread::spawn(move || {
            importing.write(|writer| writer.one::<i64>("select count(*) from post")).unwrap()
        }));
        // Nothing shows that the thread waits; without this time, it would often begin after the commit.
        sleep(Duration::from_millis(20)).await;
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        transaction.commit().await.unwrap();
    });
    assert_eq!(import.unwrap().join().unwrap(), Some(1));
}

#[test]
fn threads_share_a_database_and_give_their_transactions_to_the_pool() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Database>();
    sent::<Transaction>();
}

#[test]
fn a_savepoint_is_undone_without_the_rest_of_its_transaction() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        let add = async |title: &str| transaction.execute(query("insert into post (title) values (?)", title)).await;
        add("a").await.unwrap();
        let failed = transaction.savepoint(async || {
            add("b").await?;
            add("a").await
        });
        assert!(failed.await.unwrap_err().is_unique_violation());
        let kept = transaction.savepoint(async || {
            add("c").await?;
            let inner: Result<(), Error> = transaction
                .savepoint(async || {
                    add("d").await?;
                    Err(Error::other("on purpose"))
                })
                .await;
            assert!(inner.is_err());
            add("e").await
        });
        assert_eq!(kept.await.unwrap().rows, 1);
        transaction.commit().await.unwrap();
        let titles: Vec<String> = db.all("select title from post order by title").await.unwrap();
        assert_eq!(titles, ["a", "c", "e"]);
    });
}

#[test]
fn a_savepoint_that_is_abandoned_undoes_its_transaction() {
    run(async {
        let db = database().local();
        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        let work = transaction.savepoint(async || {
            transaction.execute("insert into post (title) values ('b')").await?;
            std::future::pending::<Result<(), Error>>().await
        });
        assert!(timeout(Duration::from_millis(100), work).await.is_err());
        assert!(transaction.execute("insert into post (title) values ('c')").await.is_err());
        assert!(transaction.commit().await.is_err(), "who commits hears of it");
        db.execute("insert into post (title) values ('d')").await.unwrap();
        assert_eq!(count(&db).await, 1);
    });
}

#[test]
fn savepoints_of_jobs() {
    let database = database();
    let add =
        |db: &mut skep::sql::Blocking<'_>, title: &str| db.execute(query("insert into post (title) values (?)", title));
    database
        .write(|db| {
            db.transaction(|db| {
                add(db, "a")?;
                let failed = db.savepoint(|db| {
                    add(db, "b")?;
                    add(db, "a")
                });
                assert!(failed.unwrap_err().is_unique_violation());
                db.savepoint(|db| add(db, "c"))
            })
        })
        .unwrap();
    let titles: Vec<String> = database.write(|db| db.all("select title from post order by title")).unwrap();
    assert_eq!(titles, ["a", "c"]);
    assert!(database.write(|db| db.savepoint(|db| add(db, "d"))).is_err(), "outside of a transaction");
    assert_eq!(database.write(|db| db.one("select count(*) from post")).unwrap(), Some(2));
}

#[test]
fn a_write_that_waits_for_its_own_tasks_transaction_is_an_error_that_says_so() {
    run(async {
        let options = Options::new().busy_timeout(Duration::from_millis(50));
        let folder = Folder::new();
        let database = Database::open(folder.file(), &SCHEMA, options, Threads::start(2)).unwrap();
        let transaction = database.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('a')").await.unwrap();
        for error in [
            database.execute("insert into post (title) values ('b')").await.map(drop),
            database.local().execute("insert into post (title) values ('c')").await.map(drop),
            database.transaction().await.map(drop),
        ] {
            let error = error.unwrap_err();
            assert_eq!(error.status(), 500);
            let said = "a write has waited 50 ms for a transaction that its own task has begun";
            assert!(error.to_string().starts_with(said), "{error}");
        }
        transaction.commit().await.unwrap();
        assert_eq!(count(&database.local()).await, 1);
        database.execute("insert into post (title) values ('d')").await.expect("nothing holds the writer any more");
    });
}

#[test]
fn a_write_of_another_task_waits_for_a_transaction_longer_than_for_its_own() {
    run(async {
        let options = Options::new().busy_timeout(Duration::from_millis(20));
        let folder = Folder::new();
        let database = Database::open(folder.file(), &SCHEMA, options, Threads::start(2)).unwrap();
        let transaction = database.transaction().await.unwrap();
        let other = database.clone();
        let write = spawn_local(async move { other.execute("insert into post (title) values ('b')").await });
        // Longer than a write of this task may wait, which is what the next line waits for.
        database.execute("insert into post (title) values ('c')").await.unwrap_err();
        assert!(!write.is_finished());
        transaction.commit().await.unwrap();
        assert_eq!(write.await.unwrap().unwrap().rows, 1);
    });
}

#[test]
fn many_statements_happen_together_or_not_at_all() {
    run(async {
        let db = database().local();
        let insert = |title: &'static str| query("insert into post (title) values (?)", title);
        let numbered = (1..=1000).map(|nth| query("insert into post (title) values ('a' || ?)", nth));
        let changes = db.execute_many(numbered).await.unwrap();
        assert_eq!((changes.rows, changes.last_insert_id), (1000, 1000));
        let nothing: [&str; 0] = [];
        assert_eq!(db.execute_many(nothing).await.unwrap().rows, 0);
        let wrong = [insert("b"), query("insert into post (title) values (?)", None::<&str>), insert("c")];
        assert!(db.execute_many(wrong).await.unwrap_err().is_not_null_violation());
        assert_eq!(count(&db).await, 1000, "the first of them is undone");
        let transaction = db.transaction().await.unwrap();
        transaction.execute_many([insert("d")]).await.unwrap();
        transaction.rollback().await.unwrap();
        assert_eq!(count(&db).await, 1000);
    });
}
