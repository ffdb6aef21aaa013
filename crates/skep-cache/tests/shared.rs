//! The driver of shared memory: what every driver promises, and its file.
#![cfg(all(feature = "shared", unix))]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use skep_cache::driver::{Claim, Header, Record, Removal, Token, When, ready};
use skep_cache::{Driver, Shared, Time, Version};
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

/// Two users of a small map.
fn pair() -> (TempDir, Shared, Shared) {
    let (folder, path) = place();
    let open = || Shared::at(&path, 300 << 10).max_value(4096).open().unwrap();
    let (one, other) = (open(), open());
    (folder, one, other)
}

fn has_no_faults(cache: &Shared) -> bool {
    let health = cache.health();
    health.reset + health.damaged == 0
}

#[test]
fn what_is_as_long_as_what_it_replaces_takes_no_new_room() {
    let (_folder, one, other) = pair();
    let value = |round: u32, length: usize| format!("{round:0length$}");
    set(&one, "key", &value(0, 300));
    let before = one.usage();
    for round in 1..10_000 {
        set(&one, "key", &value(round, 300));
        assert_eq!(get(&other, "key"), Some(value(round, 300)));
    }
    assert_eq!(one.usage(), before);
    // Another length goes to the head of the ring.
    set(&one, "key", &value(1, 400));
    assert!(one.usage().bytes > before.bytes);
    assert_eq!(get(&other, "key"), Some(value(1, 400)));
}

#[test]
fn a_record_that_another_user_moved_is_found_where_it_is() {
    let (_folder, one, other) = pair();
    for round in 1..40 {
        // Another length each time, so that it goes to the head of the ring; beside it others, which take its old
        // place.
        let value = |text: &str| text.repeat(100 + round * 16);
        set(&other, "key", &value("x"));
        (0..8).for_each(|number| set(&other, &number.to_string(), &value("y")));
        assert_eq!(get(&one, "key"), Some(value("x")), "{round}");
    }
    ready(other.remove(b"key", Removal { version: Version::ZERO, until: NOW }, NOW)).unwrap();
    assert_eq!(get(&one, "key"), None, "what a hint says is not believed");
}

#[test]
fn a_full_table_of_leases_refuses_and_is_no_error() {
    let (_folder, one, _other) = pair();
    let lease = |number: u64, now: Time| {
        let claim = Claim { token: Token(number), until: NOW.plus(Duration::from_millis(10)) };
        ready(one.lease(format!("key {number}").as_bytes(), claim, now)).unwrap()
    };
    let granted = (0..100).filter(|number| lease(*number, NOW).is_some()).count();
    assert_eq!(granted, 32);
    assert!(lease(200, NOW.plus(Duration::from_millis(10))).is_some(), "the others have ended");
}

#[test]
fn what_is_used_stays_when_room_is_wanted() {
    let (_folder, one, _other) = pair();
    let (value, hot) = ("x".repeat(300), (0..50).map(|number| format!("hot {number}")).collect::<Vec<_>>());
    for key in &hot {
        set(&one, key, &value);
    }
    for number in 0..20_000 {
        set(&one, &format!("cold {number}"), &value);
        get(&one, &hot[number % hot.len()]);
    }
    let kept = hot.iter().filter(|key| get(&one, key).is_some()).count();
    assert!(kept + 2 >= hot.len(), "{kept} of {}", hot.len());
    assert!(one.usage().evicted.unwrap() > 0 && has_no_faults(&one));
}

#[test]
fn replacing_half_of_what_fits_again_and_again_evicts_nothing() {
    let (_folder, one, _other) = pair();
    // Another length each time: what is as long is written in its place.
    let value = |round: usize| round.to_string().repeat(280 + round % 2 * 20);
    for round in 0..200 {
        (0..300).for_each(|number| set(&one, &number.to_string(), &value(round % 10)));
    }
    assert_eq!(one.usage().evicted, Some(0));
    assert!((0..300).all(|number| get(&one, &number.to_string()) == Some(value(9))));
}

#[test]
fn clearing_everything_frees_the_room_too() {
    let (_folder, one, _other) = pair();
    let key = |kind: &str, number: u64| format!("{kind} {number}");
    (0..400).for_each(|number| set(&one, &key("old", number), &"x".repeat(300)));
    (0..400).for_each(|number| drop(get(&one, &key("old", number))));
    ready(one.clear(b"", NOW)).unwrap();
    (0..400).for_each(|number| set(&one, &key("new", number), &"x".repeat(300)));
    assert!((0..400).all(|number| get(&one, &key("old", number)).is_none()));
    let kept = (0..400).filter(|number| get(&one, &key("new", *number)).is_some()).count();
    assert!(kept * 40 > 400 * 39, "{kept} of 400");
}

#[derive(Clone, Debug)]
enum Step {
    Set(u8, u16, When),
    Remove(u8, bool),
    Get(u8),
    Lease(u8),
    Void,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let when = prop_oneof![
        Just(When::Always),
        Just(When::Absent),
        Just(When::Newer),
        (0..20_u64).prop_map(|version| When::Version(Version::from_u64(version))),
        (0..20_u64).prop_map(|token| When::Leased(Token(token))),
    ];
    let step = prop_oneof![
        8 => (0..12_u8, 0..2000_u16, when).prop_map(|(key, length, when)| Step::Set(key, length, when)),
        2 => (0..12_u8, any::<bool>()).prop_map(|(key, mark)| Step::Remove(key, mark)),
        8 => (0..12_u8).prop_map(Step::Get),
        2 => (0..12_u8).prop_map(Step::Lease),
        1 => Just(Step::Void),
    ];
    prop::collection::vec(step, 1..300)
}

/// What a map of twelve keys, in which nothing has to go, must do.
#[derive(Default)]
struct Model {
    entries: HashMap<u8, (u64, Option<Vec<u8>>)>,
    leases: HashMap<u8, u64>,
}

impl Model {
    fn may(&self, key: u8, version: u64, when: When) -> bool {
        let old = self.entries.get(&key);
        let live = old.filter(|old| old.1.is_some());
        match when {
            When::Always => true,
            When::Absent => live.is_none(),
            When::Version(wanted) => live.is_some_and(|live| live.0 == wanted.to_u64()),
            When::Newer => old.is_none_or(|old| old.0 < version),
            When::Leased(token) => self.leases.get(&key) == Some(&token.0),
        }
    }
}

fn check(steps: Vec<Step>) {
    let map = Shared::anonymous(300 << 10).max_value(4096).open().unwrap();
    let mut model = Model::default();
    for (at, step) in steps.into_iter().enumerate() {
        let version = at as u64 % 20;
        match step {
            Step::Set(key, length, when) => {
                let value = vec![at.to_le_bytes()[0]; usize::from(length)];
                let header = Header { version: Version::from_u64(version), ..Header::default() };
                let stored = ready(map.set(&[key], &Record::new(&header, &[], &value), when, NOW)).unwrap();
                assert_eq!(stored, model.may(key, version, when), "{at}: {when:?}");
                if stored {
                    model.entries.insert(key, (version, Some(value)));
                    model.leases.remove(&key);
                }
            }
            Step::Remove(key, has_mark) => {
                let until = if has_mark { Time::NEVER } else { NOW };
                let removal = Removal { version: Version::from_u64(version), until };
                let removed = ready(map.remove(&[key], removal, NOW)).unwrap();
                let old = model.entries.remove(&key);
                assert_eq!(removed, old.as_ref().is_some_and(|old| old.1.is_some()));
                model.leases.remove(&key);
                if has_mark {
                    model.entries.insert(key, (version.max(old.map_or(0, |old| old.0)), None));
                }
            }
            Step::Get(key) => {
                let right = model.entries.get(&key).and_then(|entry| entry.1.clone());
                let got = ready(map.get(&[key], NOW, |entry| entry.value().to_vec())).unwrap();
                assert_eq!(got, right, "{at}");
            }
            Step::Lease(key) => {
                let claim = Claim { token: Token(version), until: Time::NEVER };
                let granted = ready(map.lease(&[key], claim, NOW)).unwrap().is_some();
                assert_eq!(granted, !model.leases.contains_key(&key));
                model.leases.entry(key).or_insert(version);
            }
            Step::Void => {
                ready(map.clear(b"", NOW)).unwrap();
                model = Model::default();
            }
        }
    }
    let mut keys = Vec::new();
    ready(map.keys(b"", NOW, |key| keys.push(key[0]))).unwrap();
    keys.sort_unstable();
    let mut right: Vec<_> = model.entries.iter().filter(|(_, entry)| entry.1.is_some()).map(|(key, _)| *key).collect();
    right.sort_unstable();
    assert_eq!(keys, right);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_map_does_what_its_model_does(steps in steps()) {
        check(steps);
    }
}

#[test]
fn too_small_a_file_is_refused_with_the_number_that_would_do() {
    let (_folder, path) = place();
    let open = |bytes| Shared::at(&path, bytes).max_value(4096).open();
    let error = open(1000).unwrap_err().to_string();
    let least: usize = error.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(open(least).is_ok() && open(least - 1).is_err());
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
