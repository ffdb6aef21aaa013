//! Our drivers as policies: they count bytes, so an entry that weighs one has as many bytes as make the wanted number
//! of entries fit.

use std::path::Path;

use skep_cache::driver::{Header, Ready, Record, When, ready};
use skep_cache::{Clock, Driver, Memory, Shared, Time};
use tempfile::TempDir;

use super::policy::{Policy, Size};
use super::source::Access;

/// A driver, and how an entry of some weight is made.
pub(super) struct Ours<D> {
    driver: D,
    make: Box<dyn Fn(u32) -> Record>,
    now: Time,
    // Removed when the driver is gone.
    _folder: Option<TempDir>,
}

/// Where every entry weighs one, bytes are ours to choose.
fn is_counted(size: Size) -> bool {
    size.weight == size.entries as u64
}

impl Ours<Memory> {
    pub(super) fn memory(size: Size) -> Self {
        /// Bytes of an entry that weighs one: more than it and its management take.
        const ONE: u64 = 256;
        /// What an entry with a key of four bytes and no value weighs.
        const EMPTY: u64 = 96 + 48 + 4;
        let one = if is_counted(size) { ONE } else { 1 };
        let make = move |weight| {
            let beyond = (u64::from(weight) * one).saturating_sub(EMPTY);
            let weight = u32::try_from(beyond).unwrap_or(u32::MAX);
            Record::new(&Header { weight, ..Header::default() }, &[], &[])
        };
        let driver = Memory::new(size.weight * one);
        Self { driver, make: Box::new(make), now: Clock::manual().now(), _folder: None }
    }
}

impl Ours<Shared> {
    pub(super) fn shared(size: Size) -> Self {
        let memory = Path::new("/dev/shm");
        let within = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("cache-bench").tempdir_in(within).expect("there is room");
        let (bytes, one) = if is_counted(size) {
            let bytes = (size.entries * 512).max(300 << 10);
            (bytes, calibrated(folder.path(), bytes, size.entries))
        } else {
            (usize::try_from(size.weight).expect("a trace fits into memory"), 1)
        };
        let driver = open(folder.path(), "map", bytes);
        Self { driver, make: value_of(one), now: Clock::manual().now(), _folder: Some(folder) }
    }
}

fn open(folder: &Path, name: &str, bytes: usize) -> Shared {
    Shared::at(folder.join(name), bytes).open().expect("the folder is ours")
}

/// A record takes its value, and some 100 bytes for key, headers and sum.
fn value_of(one: usize) -> Box<dyn Fn(u32) -> Record> {
    Box::new(move |weight| Record::new(&Header::default(), &[], &vec![0; (weight as usize * one).saturating_sub(100)]))
}

/// How large entries must be for `entries` of them to fill a map of `bytes` bytes, and not one more: an index, and gaps
/// that are due to the way it works, are not for entries.
fn calibrated(folder: &Path, bytes: usize, entries: usize) -> usize {
    let mut one = bytes * 9 / 10 / entries;
    for attempt in 0..8 {
        let name = format!("attempt-{attempt}");
        let mut map =
            Ours { driver: open(folder, &name, bytes), make: value_of(one), now: Clock::manual().now(), _folder: None };
        let keys = u32::try_from(entries * 3).expect("a trace has fewer");
        for key in 0..keys {
            map.visit(Access { key, weight: 1 });
        }
        let fit = usize::try_from(map.driver.usage().entries.unwrap_or(0)).unwrap_or(0);
        // The file is gone with its name: nobody else has it.
        let _ = std::fs::remove_file(folder.join(&name));
        if fit <= entries && fit * 100 >= entries * 98 {
            return one;
        }
        one = (one * fit).div_ceil(entries).max(128) + usize::from(fit > entries) * 8;
    }
    one
}

impl<D: Ready> Policy for Ours<D> {
    fn visit(&mut self, access: Access) -> bool {
        let key = access.key.to_le_bytes();
        if matches!(ready(self.driver.get(&key, self.now, |_| ())), Ok(Some(()))) {
            return true;
        }
        // What is too large for it is not kept, and missed again.
        let _ = ready(self.driver.set(&key, &(self.make)(access.weight), When::Always, self.now));
        false
    }
}
