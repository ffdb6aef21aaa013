//! The SQLite driver: survival, sweeps and eviction.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use skep_cache::driver::{Header, Record, Removal, When, ready};
use skep_cache::{Clock, Driver, Sqlite, Time};

fn record(now: Time) -> Record {
    Record::new(&Header { dead_at: now.plus(Duration::from_mins(1)), ..Header::default() }, &[], b"x")
}

fn rows(path: &Path) -> i64 {
    let count = "select count(*) from skep_cache";
    Connection::open(path).unwrap().query_row(count, [], |row| row.get(0)).unwrap()
}

#[test]
fn entries_survive_and_share_the_applications_database() {
    let folder = tempfile::tempdir().unwrap();
    let (path, now) = (folder.path().join("app.db"), Clock::system().now());
    let application = Connection::open(&path).unwrap();
    application.execute_batch("create table post (title text); insert into post values ('hello')").unwrap();
    let driver = Sqlite::open(&path).unwrap();
    ready(driver.set(b"a", &record(now), When::Always, now)).unwrap();
    drop(driver);
    let driver = Sqlite::open(&path).unwrap();
    assert_eq!(ready(driver.get(b"a", now, |entry| entry.value().len())).unwrap(), Some(1));
    assert_eq!(driver.usage().entries, Some(1));
    let title: String = application.query_row("select title from post", [], |row| row.get(0)).unwrap();
    assert_eq!(title, "hello");
}

/// As the processes of a server do that starts with an empty data folder.
#[test]
fn many_may_open_a_new_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let path = folder.path().join(format!("{round}.db"));
        let start = std::sync::Barrier::new(8);
        let open = || {
            start.wait();
            Sqlite::open(&path).map(drop)
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn writes_sweep_dead_entries() {
    let folder = tempfile::tempdir().unwrap();
    let (driver, clock) = (Sqlite::open(folder.path().join("c.db")).unwrap(), Clock::manual());
    let entries: Vec<_> = (0..500_u32).map(u32::to_be_bytes).collect();
    for key in &entries {
        ready(driver.set(key, &record(clock.now()), When::Always, clock.now())).unwrap();
    }
    clock.advance(Duration::from_mins(1));
    for _ in 0..256 {
        ready(driver.set(b"other", &record(clock.now()), When::Always, clock.now())).unwrap();
    }
    assert_eq!(rows(&folder.path().join("c.db")), 1);
}

#[test]
fn beyond_the_limit_entries_that_expire_first_are_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, now) = (folder.path().join("c.db"), Clock::manual().now());
    let until = |minutes: u64| {
        let dead_at = now.plus(Duration::from_mins(minutes));
        Record::new(&Header { dead_at, ..Header::default() }, &[], b"x")
    };
    let is_there = |driver: &Sqlite, key: u64| ready(driver.get(&key.to_be_bytes(), now, |_| ())).unwrap().is_some();
    // What was there before somebody named a bound counts; and so does what a process without one writes.
    let unbounded = Sqlite::open(&path).unwrap();
    for key in 1..=18 {
        ready(unbounded.set(&u64::to_be_bytes(key), &until(key), When::Always, now)).unwrap();
    }
    let driver = Sqlite::open(&path).unwrap().max_entries(20).unwrap();
    ready(unbounded.set(&u64::to_be_bytes(19), &until(19), When::Always, now)).unwrap();
    for _ in 0..3 {
        ready(driver.set(&u64::to_be_bytes(20), &until(20), When::Always, now)).unwrap();
    }
    assert!((1..=20).all(|key| is_there(&driver, key)), "it is full, and to write again takes no room");
    ready(driver.set(&u64::to_be_bytes(3), &until(30), When::Always, now)).unwrap();
    ready(driver.set(&u64::to_be_bytes(21), &until(21), When::Always, now)).unwrap();
    // What is new would end before all others, and stays.
    ready(driver.set(&u64::to_be_bytes(22), &until(1), When::Always, now)).unwrap();
    let gone: Vec<u64> = (1..=22).filter(|key| !is_there(&driver, *key)).collect();
    assert_eq!((gone, driver.usage().evicted), (vec![1, 2], Some(2)));
    ready(driver.remove(&u64::to_be_bytes(9), Removal { version: skep_cache::Version::ZERO, until: now }, now))
        .unwrap();
    ready(driver.set(&u64::to_be_bytes(23), &until(23), When::Always, now)).unwrap();
    assert_eq!(driver.usage().evicted, Some(2), "what was removed had left room");
    assert_eq!(rows(&path), 20);
    let error = Sqlite::open(&path).unwrap().max_entries(15).unwrap_err().to_string();
    assert!(error.contains("at least 16") && error.contains("got 15"), "{error}");
}

#[test]
fn bytes_have_a_limit_and_what_ends_first_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.db");
    let now = Time::from_millis(1_000_000);
    let driver = Sqlite::open(&path).unwrap().max_bytes(100_000).unwrap();
    let set = |key: u64, bytes: usize| {
        let header = Header { dead_at: now.plus(Duration::from_mins(key)), ..Header::default() };
        ready(driver.set(&key.to_be_bytes(), &Record::new(&header, &[], &vec![0; bytes]), When::Always, now)).unwrap();
    };
    let is_there = |key: u64| ready(driver.get(&key.to_be_bytes(), now, |_| ())).unwrap().is_some();
    for key in 1..=90 {
        set(key, 900);
    }
    assert!((1..=90).all(is_there));
    // One that grows counts as what it has become.
    set(50, 50_000);
    assert!(!is_there(1) && is_there(50) && is_there(90));
    let bytes: u64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("select sum(length(key) + length(slot)) from skep_cache", [], |row| row.get::<_, i64>(0))
        .unwrap()
        .try_into()
        .unwrap();
    assert!((80_000..=100_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_file_that_is_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "this is not a database, and longer than the header of one would be, which is 100 bytes")
        .unwrap();
    let error = Sqlite::open(&path).unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    assert!(error.to_string().contains("notes.txt: file is not a database"), "{error}");
    let error = Sqlite::open_table(folder.path().join("a.db"), "a; drop").unwrap_err().to_string();
    assert!(error.contains("letters, digits and `_`"), "{error}");
}

#[test]
fn a_counter_loses_nothing_between_threads() {
    let folder = tempfile::tempdir().unwrap();
    let driver = Sqlite::open(folder.path().join("c.db")).unwrap();
    let fresh = Record::new(&Header::default(), &[], &0_i64.to_le_bytes());
    let now = Clock::system().now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..50).for_each(|_| assert!(ready(driver.increment(b"n", 1, &fresh, now)).unwrap() > 0));
            });
        }
    });
    assert_eq!(ready(driver.increment(b"n", 0, &fresh, now)).unwrap(), 200);
}
