//! The driver of shared memory: what every driver promises, and its file.
#![cfg(all(feature = "shared", unix))]

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use proptest::prelude::*;
use skep_cache::driver::{Header, Record, When, ready};
use skep_cache::{Driver, Shared, Time};
use tempfile::TempDir;

const NOW: Time = Time::from_millis(1_800_000_000_000);

/// A map in a folder that stays until the program ends.
fn fresh() -> Shared {
    let folder = tempfile::tempdir().unwrap();
    let cache = Shared::at(folder.path().join("cache"), 4 << 20).open().unwrap();
    // The mapping needs no name.
    drop(folder);
    cache
}

mod suite {
    skep_cache::suite!(super::fresh());
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    (folder, path)
}

fn set(cache: &Shared, key: &str, value: &str) {
    let record = Record::new(&Header::default(), &[], value.as_bytes());
    assert!(ready(cache.set(key.as_bytes(), &record, When::Always, NOW)).unwrap());
}

fn get(cache: &Shared, key: &str) -> Option<String> {
    let read = |entry: skep_cache::driver::Entry<'_>| String::from_utf8_lossy(entry.value()).into_owned();
    ready(cache.get(key.as_bytes(), NOW, read)).unwrap()
}

/// The message of a refused file.
fn refused(path: &PathBuf) -> String {
    Shared::at(path, 1 << 20).open().unwrap_err().to_string()
}

#[test]
fn what_was_stored_is_there_after_a_restart() {
    let (_folder, path) = place();
    set(&Shared::at(&path, 1 << 20).open().unwrap(), "key", "value");
    assert_eq!(get(&Shared::at(&path, 1 << 20).open().unwrap(), "key").as_deref(), Some("value"));
}

#[test]
fn a_file_is_its_users_alone_and_has_all_its_room() {
    let (folder, path) = place();
    drop(Shared::at(&path, 1 << 20).open().unwrap());
    let meta = fs::metadata(&path).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    assert!(meta.blocks() * 512 >= meta.len(), "a hole could not be filled on a full disk");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_file_of_another_size_is_replaced_and_its_users_keep_theirs() {
    let (_folder, path) = place();
    let old = Shared::at(&path, 1 << 20).open().unwrap();
    set(&old, "key", "old");
    let new = Shared::at(&path, 2 << 20).open().unwrap();
    assert_eq!(get(&new, "key"), None);
    set(&new, "key", "new");
    assert_eq!(get(&old, "key").as_deref(), Some("old"));
}

#[test]
fn a_file_with_damaged_constants_or_cut_short_is_replaced() {
    for damage in 0..9 * 8 {
        let (_folder, path) = place();
        set(&Shared::at(&path, 1 << 20).open().unwrap(), "key", "value");
        let file = fs::File::options().read(true).write(true).open(&path).unwrap();
        if damage < 8 {
            file.set_len(1000 * damage).unwrap();
        } else {
            let mut byte = [0];
            file.read_exact_at(&mut byte, damage).unwrap();
            file.write_all_at(&[byte[0] ^ 4], damage).unwrap();
        }
        let cache = Shared::at(&path, 1 << 20).open().unwrap();
        assert_eq!(get(&cache, "key"), None, "{damage}");
        set(&cache, "key", "value");
    }
}

#[test]
fn what_is_not_ours_is_refused_and_left_as_it_is() {
    let (folder, path) = place();
    fs::write(&path, "[server]").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(refused(&path).contains("it is not a cache and would be overwritten"), "{}", refused(&path));
    assert_eq!(fs::read_to_string(&path).unwrap(), "[server]");
    fs::remove_file(&path).unwrap();

    symlink(folder.path().join("elsewhere"), &path).unwrap();
    assert!(refused(&path).contains("it is a symbolic link"), "{}", refused(&path));
    fs::remove_file(&path).unwrap();

    drop(Shared::at(&path, 1 << 20).open().unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(refused(&path).contains("chmod 600"), "{}", refused(&path));

    assert!(refused(&folder.path().to_owned()).contains("cache") || !refused(&folder.path().to_owned()).is_empty());
    assert!(refused(&folder.path().join("no/such/folder")).contains("no/such/folder"));
}

#[test]
fn a_value_beyond_the_limit_is_refused_with_both_numbers() {
    let (_folder, path) = place();
    let cache = Shared::at(&path, 1 << 20).max_value(8 << 10).open().unwrap();
    let record = |bytes: usize| Record::new(&Header::default(), &[], &vec![1; bytes]);
    assert!(ready(cache.set(b"key", &record((8 << 10) - Header::LEN), When::Always, NOW)).unwrap());
    let error = ready(cache.set(b"key", &record(8 << 10), When::Always, NOW)).unwrap_err();
    assert_eq!(error.to_string(), "8240 bytes do not fit: the limit is 8192");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file in which anything was overwritten is opened and used: no panic, no hang, no value that nobody stored.
    #[test]
    fn a_damaged_file_gives_misses_and_never_a_wrong_value(
        writes in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 1..64)), 1..60),
    ) {
        let (_folder, path) = place();
        let cache = Shared::at(&path, 300 << 10).open().unwrap();
        (0..500).for_each(|number| set(&cache, &format!("{number}"), &format!("value of {number}")));
        drop(cache);
        let file = fs::File::options().write(true).open(&path).unwrap();
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        for (index, bytes) in &writes {
            // The constants at the start have a test of their own.
            let at = 72 + index.index(length - 72 - bytes.len());
            file.write_all_at(bytes, at as u64).unwrap();
        }
        let cache = Shared::at(&path, 300 << 10).open().unwrap();
        for number in 0..500 {
            let (key, value) = (format!("{number}"), format!("value of {number}"));
            if let Some(found) = get(&cache, &key) {
                prop_assert_eq!(found, value.clone());
            }
            let record = Record::new(&Header::default(), &[], value.as_bytes());
            let _ = ready(cache.set(key.as_bytes(), &record, When::Always, NOW));
        }
    }
}
