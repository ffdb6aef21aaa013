//! The shared map between real processes: killed at any moment, opened all at once, forked from one another.
//!
//! A test that needs other processes starts this very program again, with a word in the environment that says what to
//! do.
#![cfg(all(feature = "shared", unix))]

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use skep_cache::driver::{Claim, Entry, Header, Record, Token, When, ready};
use skep_cache::{Cache, Clock, Driver, Shared};

const ROLE: &str = "SKEP_CACHE_TEST_ROLE";
const FILE: &str = "SKEP_CACHE_TEST_FILE";
const SIZE: usize = 2 << 20;
const KEYS: u64 = 2_000;

fn open(path: &Path) -> Shared {
    Shared::at(path, SIZE).max_value(64 << 10).open().unwrap()
}

/// Another process, and what it says.
struct Other {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// Starts this program as another process in a role, and waits until it says that it is ready.
fn start(role: &str, path: &Path) -> Other {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process", "--nocapture", "--ignored"])
        .env(ROLE, role)
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut other = Other { child, lines };
    other.hear("ready");
    other
}

impl Other {
    /// Waits for a line with this word; what follows it.
    fn hear(&mut self, word: &str) -> String {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        lines.find_map(|line| Some(line.split_once(word)?.1.to_owned())).expect(word)
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// What the other processes do.
#[test]
#[ignore = "child process of the other tests here"]
fn child_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = PathBuf::from(std::env::var(FILE).unwrap());
    let cache = open(&path);
    println!("ready");
    match role.as_str() {
        "write" => write(&cache),
        "hold a lease" => {
            assert!(lease(&cache, b"cold").is_some());
            println!("ready");
            std::thread::sleep(Duration::from_mins(10));
        }
        "count" => (0..10_000).for_each(|_| _ = count(&cache)),
        "compute" => println!("computed {}", compute(cache)),
        _ => unreachable!("{role}"),
    }
}

/// A value of a length and contents that follow from key and round, so that a reader knows whether it is whole.
fn value(key: u64, round: u64) -> Vec<u8> {
    let length = if key.is_multiple_of(97) { 20_000 } else { 16 + key * 37 % 700 };
    let mut bytes = vec![(round % 251) as u8; 16 + usize::try_from(length).unwrap()];
    bytes[..8].copy_from_slice(&key.to_le_bytes());
    bytes[8..16].copy_from_slice(&round.to_le_bytes());
    bytes
}

fn is_whole(key: u64, bytes: &[u8]) -> bool {
    let round = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
    bytes == value(key, round)
}

fn name(key: u64) -> Vec<u8> {
    format!("a key of some length {key}").into_bytes()
}

/// Sets, removes and leases as fast as it can, until it is killed.
fn write(cache: &Shared) {
    let clock = Clock::system();
    let mut random = u64::from(std::process::id()) << 20 | 1;
    for round in 0.. {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (key, now) = ((random >> 33) % KEYS, clock.now());
        let record = Record::new(&Header { version: clock.version(), ..Header::default() }, &[], &value(key, round));
        match random >> 60 {
            0 => drop(lease(cache, &name(key))),
            1 => {
                let removal = skep_cache::driver::Removal { version: clock.version(), until: now };
                ready(cache.remove(&name(key), removal, now)).unwrap();
            }
            _ => drop(ready(cache.set(&name(key), &record, When::Always, now)).unwrap()),
        }
    }
}

fn lease(cache: &Shared, key: &[u8]) -> Option<Token> {
    let clock = Clock::system();
    let until = clock.now().plus(Duration::from_mins(10));
    ready(cache.lease(key, Claim { token: Token(clock.version().to_u64()), until }, clock.now())).unwrap()
}

fn count(cache: &Shared) -> i64 {
    let clock = Clock::system();
    let header = Header { flags: skep_cache::driver::Flags::COUNTER, ..Header::default() };
    ready(cache.increment(b"counter", 1, &Record::new(&header, &[], &0_i64.to_le_bytes()), clock.now())).unwrap()
}

/// Reads every key; how many there are. None may be torn, and none takes longer than a lock may.
fn check(cache: &Shared) -> usize {
    let now = Clock::system().now();
    let read = |key: u64| {
        let start = Instant::now();
        let read = |entry: Entry<'_>| assert!(is_whole(key, entry.value()), "key {key} is torn");
        let is_there = ready(cache.get(&name(key), now, read)).unwrap().is_some();
        assert!(start.elapsed() < Duration::from_secs(5), "key {key} took {:?}", start.elapsed());
        is_there
    };
    (0..KEYS).filter(|key| read(*key)).count()
}

/// Kills writers again and again; after each, everything that is there is whole, and writing goes on.
fn killing_writers(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = open(&path);
    let clock = Clock::system();
    let mut slowest = Duration::ZERO;
    let mut fewest = usize::MAX;
    let mut other = start("write", &path);
    for round in 0..kills {
        let writer = start("write", &path);
        // Somewhere in the first milliseconds of its work: each time somewhere else.
        std::thread::sleep(Duration::from_micros(500 + u64::from(round) * 7919 % 4000));
        std::mem::replace(&mut other, writer).kill();
        if round > 10 {
            fewest = fewest.min(check(&cache));
        }
        for key in 0..KEYS / 10 {
            let start = Instant::now();
            let record = Record::new(&Header::default(), &[], &value(key, u64::from(round)));
            let stored = ready(cache.set(&name(key), &record, When::Always, clock.now()));
            slowest = slowest.max(start.elapsed());
            assert!(stored.unwrap());
        }
    }
    other.kill();
    check(&cache);
    let health = cache.health();
    println!("{kills} kills: {health:?}, slowest write {slowest:?}, never fewer than {fewest} of {KEYS} keys");
    assert_eq!((health.damaged, health.reset), (0, 0), "a kill damages nothing");
    assert!(kills < 12 || fewest > 100, "only {fewest} keys were left");
    drop(cache);
    check(&open(&path));
}

#[test]
fn killed_writers_damage_nothing() {
    killing_writers(40);
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::killing_writers;

    #[test]
    #[ignore = "takes minutes: run it after a change of how a shard is written"]
    fn a_thousand_killed_writers_damage_nothing() {
        killing_writers(1000);
    }
}

#[test]
fn the_lease_of_a_killed_process_is_free_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = open(&path);
    let mut holder = start("hold a lease", &path);
    holder.hear("ready");
    assert_eq!(lease(&cache, b"cold"), None);
    holder.kill();
    assert!(lease(&cache, b"cold").is_some());
}

#[test]
fn processes_that_count_together_lose_no_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    // All at once, so that they also make the file together.
    let mut children: Vec<_> = (0..3).map(|_| start("count", &path)).collect();
    for child in &mut children {
        assert!(child.child.wait().unwrap().success());
    }
    assert_eq!(count(&open(&path)), 30_001);
}

/// Half a thousand threads ask for one cold key. How often this process computed.
fn compute(cache: Shared) -> u32 {
    let cache = Cache::<str, String>::builder("cold").build(cache).unwrap();
    let computed = AtomicU32::new(0);
    let wait = || {
        let compute = || {
            computed.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(100));
            Ok::<_, std::io::Error>("computed".to_owned())
        };
        assert_eq!(cache.blocking().get_or("key", compute).unwrap(), "computed");
    };
    std::thread::scope(|scope| (0..500).for_each(|_| drop(scope.spawn(wait))));
    computed.into_inner()
}

#[test]
fn a_thousand_waiters_in_two_processes_compute_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let computed = |mut other: Other| {
        let count: u32 = other.hear("computed ").parse().unwrap();
        other.child.wait().unwrap();
        count
    };
    let children = [start("compute", &path), start("compute", &path)];
    assert_eq!(children.map(computed).iter().sum::<u32>(), 1);
}
