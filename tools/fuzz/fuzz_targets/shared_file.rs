//! A file of the shared map in which anything was overwritten is opened and used: no panic, no hang, no value that
//! nobody stored.
//!
//! The input is a list of places (3 bytes), lengths (1 byte) and bytes to write there. Run, in tools:
//! `cargo +nightly fuzz run shared_file`.
#![no_main]

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skep_cache::driver::{Entry, Header, Record, When, ready};
use skep_cache::{Driver, Shared, Time};
use tempfile::TempDir;

const NOW: Time = Time::from_millis(1_800_000_000_000);
const BYTES: usize = 300 << 10;
const KEYS: u32 = 200;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

/// A file with entries in it.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = FOLDER.path().join("whole");
    let cache = Shared::at(&path, BYTES).open().expect("a new file");
    (0..KEYS).for_each(|key| set(&cache, key));
    drop(cache);
    fs::read(path).expect("it was made")
});

fn value(key: u32) -> Vec<u8> {
    format!("value of {key} ").repeat(1 + key as usize % 40).into_bytes()
}

fn set(cache: &Shared, key: u32) {
    let record = Record::new(&Header::default(), &[], &value(key));
    let _ = ready(cache.set(&key.to_le_bytes(), &record, When::Always, NOW));
}

fuzz_target!(|input: &[u8]| {
    let path = FOLDER.path().join("damaged");
    fs::write(&path, &*WHOLE).expect("room");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let file = fs::File::options().write(true).open(&path).expect("it is there");
    let mut rest = input;
    while let [a, b, c, length, bytes @ ..] = rest {
        let (bytes, after) = bytes.split_at(bytes.len().min(usize::from(*length)));
        let at = usize::from(*a) | usize::from(*b) << 8 | usize::from(*c) << 16;
        let room = WHOLE.len() - bytes.len();
        file.write_all_at(bytes, (at % (room + 1)) as u64).expect("inside the file");
        rest = after;
    }
    // What is damaged so that it is no cache of ours any more is refused, which is right.
    let Ok(cache) = Shared::at(&path, BYTES).open() else {
        fs::remove_file(&path).expect("it is there");
        return;
    };
    for key in 0..KEYS {
        let found = ready(cache.get(&key.to_le_bytes(), NOW, |entry: Entry<'_>| entry.value().to_vec()));
        if let Ok(Some(found)) = found {
            assert_eq!(found, value(key), "a value that nobody stored");
        }
    }
    (0..KEYS).for_each(|key| set(&cache, key));
});
