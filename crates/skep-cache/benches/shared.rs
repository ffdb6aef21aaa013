//! What a hit in the shared map costs, beside moka and foyer, which live in one process, and a plain `HashMap`, which cannot
//! even be shared by threads: the floor.
//!
//! 100 000 keys (UUIDs of 36 characters) with values of 160 bytes, asked for in random order; the keys themselves come one after
//! another, as they would from a request. `1:10` is one set for ten gets. Rounds of all subjects take turns, and the median counts: another
//! program that runs meanwhile hits all alike. With two, the map has two processes, the others have two threads.
//!
//! Run: `cargo bench -p skep-cache --bench shared` (about a minute; the file is made in /dev/shm, or in the folder that
//! `SKEP_BENCH_FOLDER` names). What it leaves out: network, serialisation, eviction.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use skep_cache::driver::{Header, Record, When, ready};
use skep_cache::{Driver, Shared, Time};

const KEYS: usize = 100_000;
const ASKED: usize = 200_000;
const ROUNDS: usize = 9;
const BYTES: usize = 64 << 20;
const NOW: Time = Time::from_millis(1_800_000_000_000);
const FILE: &str = "SKEP_BENCH_FILE";

type Key = [u8; 36];

/// A sequence without a pattern, the same in each process.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn key(&mut self) -> Key {
        let (a, b) = (self.next(), self.next());
        let text = format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xffff,
            b >> 48,
            b << 16 >> 16
        );
        text.into_bytes().try_into().expect("36 characters")
    }
}

/// What a reader does with a value: everybody's is read whole.
fn read(value: &[u8]) -> bool {
    let mut copy = [0; 160];
    copy.copy_from_slice(value);
    std::hint::black_box(&copy)[100] == 7
}

/// A cache under measurement.
trait Subject: Sync {
    fn set(&self, key: &Key);
    fn get(&self, key: &Key) -> bool;
}

impl Subject for Shared {
    fn set(&self, key: &Key) {
        let record = Record::new(&Header::default(), &[], &[7; 160]);
        ready(Driver::set(self, key, &record, When::Always, NOW)).expect("stored");
    }
    fn get(&self, key: &Key) -> bool {
        ready(Driver::get(self, key, NOW, |entry| read(entry.value()))).expect("works").unwrap_or(false)
    }
}

struct Moka(moka::sync::Cache<Key, std::sync::Arc<[u8; 160]>>);

impl Subject for Moka {
    fn set(&self, key: &Key) {
        self.0.insert(*key, std::sync::Arc::new([7; 160]));
    }
    fn get(&self, key: &Key) -> bool {
        self.0.get(key).is_some_and(|value| read(&value[..]))
    }
}

struct Foyer(foyer_memory::Cache<Key, std::sync::Arc<[u8; 160]>>);

impl Subject for Foyer {
    fn set(&self, key: &Key) {
        self.0.insert(*key, std::sync::Arc::new([7; 160]));
    }
    fn get(&self, key: &Key) -> bool {
        self.0.get(key).is_some_and(|entry| read(&entry.value()[..]))
    }
}

/// One thread, no lock, no eviction.
struct Plain(std::sync::Mutex<HashMap<Key, Box<[u8; 160]>>>);

impl Subject for Plain {
    fn set(&self, key: &Key) {
        self.0.lock().expect("one thread").insert(*key, Box::new([7; 160]));
    }
    fn get(&self, key: &Key) -> bool {
        self.0.lock().expect("one thread").get(key).is_some_and(|value| read(&value[..]))
    }
}

/// Nanoseconds that this thread had a processor: what other programs do meanwhile counts less.
fn spent() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Nanoseconds for each operation; `share` gets for one set, none if 0.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a second, and a number of calls")]
fn run(subject: &dyn Subject, asked: &[Key], share: usize) -> f64 {
    let start = spent();
    let mut hits = 0;
    for (at, key) in asked.iter().enumerate() {
        if share > 0 && at % (share + 1) == 0 {
            subject.set(key);
            hits += 1;
        } else {
            hits += usize::from(subject.get(key));
        }
    }
    let nanos = (spent() - start) as f64 / asked.len() as f64;
    assert!(hits * 100 >= asked.len() * 95, "{hits} hits of {}", asked.len());
    nanos
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn keys() -> Vec<Key> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..KEYS).map(|_| random.key()).collect()
}

fn asked(keys: &[Key], seed: u64) -> Vec<Key> {
    let mut random = Random(seed);
    (0..ASKED).map(|_| keys[(random.next() >> 20) as usize % keys.len()]).collect()
}

fn open(path: &Path) -> Shared {
    Shared::at(path, BYTES).open().expect("the folder can be written to")
}

/// Another process: does one round for each line that it gets, and says how long it took.
fn help(path: &Path) {
    let (map, asked) = (open(path), asked(&keys(), 77));
    println!("ready");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        println!("{}", run(&map, &asked, line.parse().expect("a share")));
    }
}

struct Helper(Child, BufReader<std::process::ChildStdout>);

impl Helper {
    fn start(path: &Path) -> Self {
        let program = std::env::current_exe().expect("it runs");
        let mut command = Command::new(program);
        let mut child = command.env(FILE, path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        lines.read_line(&mut String::new()).expect("ready");
        Self(child, lines)
    }

    fn begin(&mut self, share: usize) {
        writeln!(self.0.stdin.as_mut().expect("a pipe"), "{share}").expect("it lives");
    }

    fn end(&mut self) -> f64 {
        let mut line = String::new();
        self.1.read_line(&mut line).expect("it lives");
        line.trim().parse().expect("a number")
    }
}

/// Operations of both together in a microsecond.
fn both(subject: &dyn Subject, asked: [&[Key]; 2], share: usize) -> f64 {
    let times = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(subject, asked[1], share));
        [run(subject, asked[0], share), other.join().expect("no panic")]
    });
    times.iter().map(|nanos| 1000.0 / nanos).sum()
}

fn main() {
    if let Some(path) = std::env::var_os(FILE) {
        return help(Path::new(&path));
    }
    let folder = PathBuf::from(std::env::var_os("SKEP_BENCH_FOLDER").unwrap_or_else(|| "/dev/shm".into()));
    let path = folder.join(format!("skep-bench-{}", std::process::id()));
    let map = open(&path);
    let moka = Moka(moka::sync::Cache::new(2 * KEYS as u64));
    let foyer = Foyer(foyer_memory::CacheBuilder::new(2 * KEYS).build());
    let plain = Plain(std::sync::Mutex::new(HashMap::new()));
    let subjects: [(&str, &dyn Subject); 4] =
        [("shared", &map), ("moka", &moka), ("foyer", &foyer), ("HashMap", &plain)];
    let keys = keys();
    for (_, subject) in &subjects {
        for key in &keys {
            subject.set(key);
        }
    }
    let (mine, others) = (asked(&keys, 42), asked(&keys, 77));
    let mut helper = Helper::start(&path);

    println!("160 bytes, {KEYS} keys, medians of {ROUNDS} rounds that took turns");
    println!("| share | | ns one | of shared's speed | per us two | two of one |");
    for (share, name) in [(0, "get"), (10, "1:10"), (1, "1:1")] {
        let mut one = vec![Vec::new(); subjects.len()];
        let mut two = vec![Vec::new(); subjects.len()];
        for _ in 0..ROUNDS {
            for (at, (_, subject)) in subjects.iter().enumerate() {
                one[at].push(run(*subject, &mine, share));
                two[at].push(if at == 0 {
                    helper.begin(share);
                    let nanos = run(*subject, &mine, share);
                    1000.0 / nanos + 1000.0 / helper.end()
                } else {
                    both(*subject, [&mine, &others], share)
                });
            }
        }
        let ours = median(one[0].clone());
        for (at, (subject, _)) in subjects.iter().enumerate() {
            let (nanos, rate) = (median(one[at].clone()), median(two[at].clone()));
            let (speed, gain) = (ours / nanos, rate * nanos / 1000.0);
            println!("| {name} | {subject} | {nanos:.0} | {speed:.2} | {rate:.2} | {gain:.2} |");
        }
    }
    println!("{:?}", map.health());
    drop(helper.0.stdin.take());
    helper.0.wait().expect("it ends");
    std::fs::remove_file(path).expect("it was there");
}
