//! What goes wrong while the application runs is told apart, and nothing is lost.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use skep::offload::{Inline, Offload};
use skep::sql::{self, Database, query};

use crate::support::{Folder, SCHEMA, Threads, impatient, run};

#[test]
fn violations_are_told_apart() {
    run(async {
        let db = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap().local();
        db.execute("insert into post (id, title) values (1, 'a')").await.unwrap();
        let fails = async |text: &str| db.execute(text).await.unwrap_err();
        assert!(fails("insert into post (title) values ('a')").await.is_unique_violation());
        assert!(fails("insert into post (id, title) values (1, 'b')").await.is_unique_violation());
        assert!(fails("insert into comment values (7, 'x')").await.is_foreign_key_violation());
        assert!(fails("insert into post (title) values (null)").await.is_not_null_violation());
        let error = fails("insert into comment values (1, '')").await;
        assert!(error.is_check_violation() && !error.is_unique_violation());
        assert_eq!(error.statement(), Some("insert into comment values (1, '')"));
        let error = skep::Error::from(error);
        assert_eq!((error.status(), error.message()), (500.try_into().unwrap(), None));
    });
}

#[test]
fn a_wrong_statement_says_where() {
    run(async {
        let db = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap().local();
        let error = db.all::<i64>("select id\nfrom pots").await.unwrap_err();
        assert!(error.to_string().starts_with("no such table: pots"), "{error}");
        let error = db.execute("insert into post (titel) values ('a')").await.unwrap_err();
        assert!(error.to_string().contains("no column named titel"), "{error}");
    });
}

#[test]
fn a_lock_of_another_process_is_503_and_passes() {
    run(async {
        let folder = Folder::new();
        let db = folder.open(&SCHEMA).unwrap().local();
        let stranger = folder.stranger();
        stranger.execute_batch("begin immediate; insert into post (title) values ('theirs')").unwrap();
        for error in [
            db.execute("insert into post (title) values ('ours')").await.unwrap_err(),
            db.transaction().await.unwrap_err(),
        ] {
            assert!(error.is_busy(), "{error}");
            let error = skep::Error::from(error);
            assert_eq!(error.status(), 503);
            assert_eq!(error.message(), Some("Too much is being written at the moment. Please try again."));
        }
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(0), "readers do not wait");
        stranger.execute_batch("commit").unwrap();
        db.execute("insert into post (title) values ('ours')").await.unwrap();
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(2));
    });
}

#[test]
fn a_read_that_would_have_to_wait_goes_to_the_pool_and_waits_there() {
    run(async {
        let folder = Folder::new();
        let threads = Threads::start(1);
        let options = impatient().busy_timeout(std::time::Duration::from_secs(5));
        let database = Database::open(folder.file(), &SCHEMA, options, threads.clone()).unwrap();
        let db = database.local();
        // In this locking mode a writer shuts even readers out, as a recovery after a crash does.
        let path = folder.file();
        let (locked, is_locked) = std::sync::mpsc::channel();
        drop(database.write(|writer| writer.all::<String>("pragma journal_mode = delete")).unwrap());
        let stranger = std::thread::spawn(move || {
            let stranger = rusqlite::Connection::open(path).unwrap();
            stranger.execute_batch("begin exclusive").unwrap();
            locked.send(()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
            stranger.execute_batch("commit").unwrap();
        });
        is_locked.recv().unwrap();
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(0));
        assert!(threads.taken() > 0);
        stranger.join().unwrap();
    });
}

#[test]
fn a_full_disk_is_503_and_nothing_is_lost() {
    run(async {
        let folder = Folder::new();
        let database = folder.open(&SCHEMA).unwrap();
        let db = database.local();
        db.execute("insert into post (title) values ('before')").await.unwrap();
        let limit = "pragma max_page_count = 20";
        database.write(|writer| writer.one::<i64>(limit)).unwrap();
        let large = "x".repeat(200_000);
        let error = db.execute(query("insert into post (title) values (?)", &large)).await.unwrap_err();
        assert!(error.is_full(), "{error}");
        let error = skep::Error::from(error);
        assert_eq!(error.status(), 503);
        assert!(error.message().unwrap().starts_with("Nothing can be saved at the moment"));

        let mut transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('within')").await.unwrap();
        assert!(transaction.execute(query("insert into post (title) values (?)", &large)).await.is_err());
        drop(transaction);
        assert_eq!(db.all::<String>("select title from post").await.unwrap(), ["before"]);
        db.execute("insert into post (title) values ('after')").await.unwrap();
    });
}

#[test]
fn a_database_error_inside_another_error_is_still_503() {
    #[derive(Debug)]
    struct Mine(sql::Error);

    impl fmt::Display for Mine {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the comment was not saved")
        }
    }

    impl StdError for Mine {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    run(async {
        let folder = Folder::new();
        drop(folder.open(&SCHEMA).unwrap());
        let db = folder.open_with(&SCHEMA, impatient().read_only(true)).unwrap().local();
        let error = db.execute("delete from post").await.map_err(Mine).unwrap_err();
        assert_eq!(skep::Error::from(error).status(), 503);
    });
}

#[test]
fn a_pool_that_drops_its_jobs_is_an_error_and_not_a_hang() {
    struct Forgetful;

    impl Offload for Forgetful {
        fn run(&self, _job: Box<dyn FnOnce() + Send>) {}
    }

    run(async {
        let folder = Folder::new();
        let db = Database::open(folder.file(), &SCHEMA, impatient(), Arc::new(Forgetful)).unwrap().local();
        for _ in 0..3 {
            let error = db.execute("delete from post").await.unwrap_err();
            assert_eq!(error.to_string(), "the queue for blocking work is full (limits.blocking_queue)");
        }
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(0));
    });
}
