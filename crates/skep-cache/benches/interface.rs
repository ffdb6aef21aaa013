//! What `Cache` costs over its driver called directly: one warm key of 36 characters, one thread, values as bytes. The
//! driver is given the key encoded and the entry made; `Cache` encodes the key, asks the time, checks the epoch,
//! counts, and for `set` makes the entry. Leaves out decoding (a codec's cost is its own) and contention. Run:
//! `cargo bench -p skep-cache --bench interface`. The goal: 5 %, or 30 ns for drivers in memory.

use bytes::Bytes;
use divan::{Bencher, black_box};
use skep_cache::driver::{Header, Record, When, ready};
use skep_cache::{Cache, Clock, Driver, Memory, Raw, Time};

const KEY: &str = "0b34cf1a-6d2b-4a53-9e0e-5a1f6cb1d3e7";
const SIZES: [usize; 3] = [16, 160, 1_600];

fn main() {
    divan::main();
}

fn memory() -> Memory {
    Memory::new(64 << 20)
}

fn cache() -> Cache<str, Bytes, Memory, Raw> {
    Cache::<str, Bytes>::builder("bench").codec(Raw).build(memory()).expect("a good namespace")
}

/// As long as the key that `Cache` makes of it.
fn driver_key() -> Vec<u8> {
    [b"bench\0\0\0\0\0\0\x24", KEY.as_bytes()].concat()
}

fn record(bytes: usize, now: Time) -> Record {
    let fresh_until = now.plus(std::time::Duration::from_hours(1));
    Record::new(&Header { fresh_until, dead_at: fresh_until, ..Header::default() }, &[], &vec![b'x'; bytes])
}

#[divan::bench(args = SIZES)]
fn get_driver(bencher: Bencher<'_, '_>, bytes: usize) {
    let (memory, clock, key) = (memory(), Clock::system(), driver_key());
    ready(memory.set(&key, &record(bytes, clock.now()), When::Always, clock.now())).expect("it fits");
    let now = clock.now();
    bencher.bench_local(|| ready(memory.get(black_box(&key), now, |entry| entry.value().len())));
}

#[divan::bench(args = SIZES)]
fn get_cache(bencher: Bencher<'_, '_>, bytes: usize) {
    let cache = cache();
    cache.blocking().set(KEY, &Bytes::from(vec![b'x'; bytes])).expect("it fits");
    bencher.bench_local(|| cache.blocking().read(black_box(KEY), <[u8]>::len));
}

#[divan::bench(args = SIZES)]
fn set_driver(bencher: Bencher<'_, '_>, bytes: usize) {
    let (memory, clock, key) = (memory(), Clock::system(), driver_key());
    let now = clock.now();
    bencher.bench_local(|| {
        let record = record(bytes, now);
        ready(memory.set(black_box(&key), &record, When::Always, now))
    });
}

#[divan::bench(args = SIZES)]
fn set_cache(bencher: Bencher<'_, '_>, bytes: usize) {
    let cache = cache();
    bencher.bench_local(|| {
        let value = Bytes::from(vec![b'x'; bytes]);
        cache.blocking().set(black_box(KEY), &value)
    });
}

#[divan::bench]
fn clock_now(bencher: Bencher<'_, '_>) {
    let clock = Clock::system();
    bencher.bench_local(|| black_box(&clock).now());
}
