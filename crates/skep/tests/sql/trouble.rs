//! Errors while the application runs are distinguished, and nothing is lost.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use skep::offload::{Inline, Offload};
use skep::sql::{self, Database, query};

use crate::support::{Folder, SCHEMA, Threads, impatient, run};

#[test]
fn violations_of_constraints_are_distinguished() {
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
fn a_value_that_only_sqlite_refuses_is_a_400() {
    run(async {
        let db = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap().local();
        db.execute("create table number (id integer primary key, n int not null, r real) strict").await.unwrap();
        let long = "%a".repeat(30_000);
        let refused = [
            query("select zeroblob(?)", 3_000_000_000_i64),
            query("select replace(hex(zeroblob(?)), '0', '0123456789')", 400_000_000),
            query("select abs(?)", i64::MIN),
            query("select sum(a) from (select ? as a union all select 9223372036854775807)", 1),
            query("select json(?)", "{"),
            query("select json_extract('{}', ?)", "x["),
            query("select 'x' like ?", &long),
            query("select id from post limit ?", "many"),
            query("select ?", u64::MAX),
            query("insert into number (id, n) values (?, 1)", "first"),
            query("insert into number (n) values (?)", "one"),
            query("insert into number (n, r) values (1, ?)", "pi"),
            query("insert into number (n) values (?)", 1.5),
        ];
        for query in refused {
            let text = query.text().to_owned();
            let error = db.all::<Option<String>>(query).await.unwrap_err();
            assert!(error.is_invalid_value(), "{text}: {error}");
            let error = skep::Error::from(error);
            assert_eq!(error.status(), 400, "{text}");
            assert!(error.message().unwrap().starts_with("a value in this request is too long"), "{error}");
        }
        // Without a value, or for another reason, the statement is at fault.
        for text in ["select zeroblob(3000000000)", "select json('{')", "insert into number (n) values ('one')"] {
            let error = db.all::<Option<String>>(text).await.unwrap_err();
            assert_eq!(skep::Error::from(error).status(), 500, "{text}");
        }
        let error = db.all::<i64>(query("select missing from post where id = ?", 1)).await.unwrap_err();
        assert_eq!(skep::Error::from(error).status(), 500);
        let stored = db.one::<String>(query("select ?", "a\0b")).await.unwrap();
        assert_eq!(stored.as_deref(), Some("a\0b"), "SQLite stores a NUL");
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

        let transaction = db.transaction().await.unwrap();
        transaction.execute("insert into post (title) values ('within')").await.unwrap();
        assert!(transaction.execute(query("insert into post (title) values (?)", &large)).await.is_err());
        drop(transaction);
        assert_eq!(db.all::<String>("select title from post").await.unwrap(), ["before"]);
        db.execute("insert into post (title) values ('after')").await.unwrap();
    });
}

#[test]
fn a_database_grows_to_its_limit_and_no_further() {
    run(async {
        let folder = Folder::new();
        let path = folder.open(&SCHEMA).unwrap().path().to_owned();
        let options = sql::Options::new().max_bytes(200_000);
        let db = Database::open(&path, &SCHEMA, options, Arc::new(Inline)).unwrap().local();
        let insert = async || db.execute(query("insert into post (title) values (hex(randomblob(?)))", 5000)).await;
        let mut kept = 0;
        let error = loop {
            match insert().await {
                Ok(_) => kept += 1,
                Err(error) => break error,
            }
            assert!(kept < 20, "200 KB hold no more");
        };
        assert!(error.is_full() && kept > 5, "{error} after {kept}");
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(kept));
    });
}

#[test]
fn what_would_be_written_to_a_file_that_is_gone_is_refused() {
    run(async {
        let folder = Folder::new();
        let database = folder.open(&SCHEMA).unwrap();
        let db = database.local();
        db.execute("insert into post (title) values ('before')").await.unwrap();
        let (path, aside) = (database.path().to_owned(), database.path().with_extension("aside"));
        std::fs::rename(&path, &aside).unwrap();
        // Another file in its place is another database.
        for replaced in [false, true] {
            if replaced {
                std::fs::copy(&aside, &path).unwrap();
            }
            let insert = "insert into post (title) values ('lost')";
            for error in [
                db.execute(insert).await.unwrap_err(),
                db.transaction().await.unwrap_err(),
                database.write(|writer| writer.execute(insert)).unwrap_err(),
            ] {
                assert!(error.to_string().contains("was removed or replaced while it was open"), "{error}");
                assert_eq!(skep::Error::from(error).status(), 503);
            }
        }
        std::fs::rename(&aside, &path).unwrap();
        db.execute("insert into post (title) values ('after')").await.unwrap();
        assert_eq!(db.all::<String>("select title from post").await.unwrap(), ["before", "after"]);
    });
}

#[test]
fn a_damaged_database_makes_the_site_unready() {
    let data = tempfile::tempdir().unwrap();
    let mut setup = skep::Setup::default();
    data.path().clone_into(&mut setup.data);
    let site = skep::App::new().database(SCHEMA).open(setup).unwrap();
    assert_eq!(site.check_ready(), Ok(()));
    let db = site.db().local();
    run(async {
        for _ in 0..200 {
            db.execute(query("insert into post (title) values (hex(randomblob(?)))", 1000)).await.unwrap();
        }
        // All pages but the first, which says what is where.
        let checkpoint = site.db().write(|writer| writer.all::<(i64, i64, i64)>("pragma wal_checkpoint(truncate)"));
        checkpoint.unwrap();
        let path = site.db().path();
        let mut bytes = std::fs::read(path).unwrap();
        bytes[4096..].fill(0xff);
        std::fs::write(path, bytes).unwrap();
        assert!(db.all::<String>("select title from post order by title").await.is_err());
    });
    let cause = site.check_ready().unwrap_err();
    assert!(cause.contains("is damaged: put a backup in its place"), "{cause}");
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
