//! The file driver: survival, damage and limits.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};
use skep_cache::driver::{Header, Record, Removal, When, ready};
use skep_cache::{Clock, Driver, File, Result, Time};

fn record(size: usize) -> Record {
    Record::new(&Header::default(), &[], &vec![b'x'; size])
}

fn open(root: &Path) -> File {
    File::builder(root).open().unwrap()
}

fn now() -> Time {
    Clock::system().now()
}

fn length(driver: &File, key: &[u8]) -> Result<Option<usize>> {
    ready(driver.get(key, now(), |entry| entry.value().len()))
}

fn path(root: &Path, key: &[u8]) -> PathBuf {
    let name = Sha256::digest(key).iter().fold(String::new(), |name, byte| name + &format!("{byte:02x}"));
    root.join(&name[..1]).join(name)
}

#[test]
fn entries_survive_and_only_their_owner_may_read_them() {
    let root = tempfile::tempdir().unwrap();
    let driver = open(root.path());
    ready(driver.set(b"a", &record(1_000_000), When::Always, now())).unwrap();
    drop(driver);
    let driver = open(root.path());
    assert_eq!(length(&driver, b"a").unwrap(), Some(1_000_000));
    assert_eq!(driver.usage().entries, Some(1));
    let mode = fs::metadata(path(root.path(), b"a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_entry_that_cannot_be_replaced_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let driver = open(root.path());
    let removal = Removal { version: Clock::system().version(), until: now().plus(Duration::from_mins(1)) };
    for is_set in [true, false] {
        ready(driver.set(b"a", &record(1), When::Always, now())).unwrap();
        // As on a full disk: no new file can be written.
        let new = path(root.path(), b"a").with_extension("new");
        fs::create_dir(&new).unwrap();
        let done = if is_set {
            ready(driver.set(b"a", &record(2), When::Always, now()))
        } else {
            ready(driver.remove(b"a", removal, now()))
        };
        assert!(done.is_err());
        assert_eq!(length(&driver, b"a").unwrap(), None, "the old value is stale");
        fs::remove_dir(&new).unwrap();
    }
}

#[test]
fn a_damaged_file_is_an_error_once_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let driver = open(root.path());
    let good = {
        ready(driver.set(b"a", &record(100), When::Always, now())).unwrap();
        fs::read(path(root.path(), b"a")).unwrap()
    };
    for damage in 0..good.len() {
        let mut bad = good.clone();
        bad[damage] ^= 1;
        for bad in [&bad[..], &good[..damage]] {
            fs::write(path(root.path(), b"a"), bad).unwrap();
            assert!(length(&driver, b"a").unwrap_err().is_corrupt(), "byte {damage}");
            assert_eq!(length(&driver, b"a").unwrap(), None);
        }
    }
}

#[test]
fn a_file_of_another_key_is_damaged() {
    let root = tempfile::tempdir().unwrap();
    let driver = open(root.path());
    ready(driver.set(b"a", &record(1), When::Always, now())).unwrap();
    fs::copy(path(root.path(), b"a"), path(root.path(), b"b")).unwrap();
    assert!(length(&driver, b"b").unwrap_err().is_corrupt());
}

#[test]
fn the_limit_holds_and_entries_just_read_stay() {
    let root = tempfile::tempdir().unwrap();
    let driver = File::builder(root.path()).max_bytes(2 << 20).open().unwrap();
    let old = std::time::SystemTime::now() - Duration::from_mins(10);
    for number in 0..400_u32 {
        ready(driver.set(&number.to_le_bytes(), &record(10_000), When::Always, now())).unwrap();
        if number == 5 {
            fs::File::open(path(root.path(), &number.to_le_bytes())).unwrap().set_modified(old).unwrap();
        }
        if number > 5 {
            // Each read marks it as recently read.
            fs::File::open(path(root.path(), &number.to_le_bytes())).unwrap().set_modified(old).unwrap();
            assert_eq!(length(&driver, &5_u32.to_le_bytes()).unwrap(), Some(10_000), "after {number}");
        }
    }
    let usage = driver.usage();
    assert!(usage.bytes.unwrap() <= 2 << 20, "{usage:?}");
    assert_eq!(usage.entries.unwrap() + usage.evicted.unwrap(), 400);
    let error = ready(driver.set(b"huge", &record(1 << 20), When::Always, now())).unwrap_err();
    assert!(error.is_too_large(), "{error}");
}

#[test]
fn dead_entries_are_evicted_first() {
    let root = tempfile::tempdir().unwrap();
    let driver = File::builder(root.path()).max_entries(160).open().unwrap();
    let clock = Clock::manual();
    let end = clock.now().plus(Duration::from_mins(1));
    let dying = Record::new(&Header { dead_at: end, ..Header::default() }, &[], b"x");
    for number in 0..60_u32 {
        ready(driver.set(&number.to_le_bytes(), &dying, When::Always, clock.now())).unwrap();
    }
    clock.advance(Duration::from_mins(1));
    for number in 1000..1060_u32 {
        ready(driver.set(&number.to_le_bytes(), &record(1), When::Always, clock.now())).unwrap();
    }
    assert_eq!(driver.usage().evicted, Some(0));
    let living = (1000..1060_u32).filter(|number| length(&driver, &number.to_le_bytes()).unwrap().is_some());
    assert_eq!(living.count(), 60);
}

#[test]
fn a_counter_loses_nothing_between_threads() {
    let root = tempfile::tempdir().unwrap();
    let fresh = Record::new(&Header::default(), &[], &0_i64.to_le_bytes());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let driver = open(root.path());
                (0..50).for_each(|_| assert!(ready(driver.increment(b"n", 1, &fresh, now())).unwrap() > 0));
            });
        }
    });
    assert_eq!(ready(open(root.path()).increment(b"n", 0, &fresh, now())).unwrap(), 200);
}

#[test]
fn invalid_options_are_named() {
    let root = tempfile::tempdir().unwrap();
    let error = File::builder(root.path()).max_bytes(1).open().unwrap_err().to_string();
    assert!(error.contains("max_bytes is 1: expected at least 1048576"), "{error}");
    fs::write(root.path().join("taken"), "").unwrap();
    let error = File::builder(root.path().join("taken")).open().unwrap_err().to_string();
    assert!(error.contains("taken/0"), "{error}");
}
