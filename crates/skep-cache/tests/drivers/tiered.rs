//! Tiers: coherence, write policies and failures.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep_cache::driver::{
    Change, Claim, Entry, EpochWrites, Header, Listener, Ready, Record, Removal, Stamp, Token, When, ready,
};
use skep_cache::{Clock, Driver, Error, Memory, Result, Tiered, Time, WritePolicy};

/// The default bound of copies without notifications.
const BOUND: Duration = Duration::from_secs(1);

mod of_two {
    use super::*;
    skep_cache::suite!(Tiered::new(Memory::new(1 << 20), Memory::new(1 << 20)));
}

mod of_three {
    use super::*;
    skep_cache::suite!(Tiered::new(
        Memory::new(1 << 20),
        Tiered::new(Memory::new(1 << 20), Memory::new(1 << 20)).writes("a", WritePolicy::Around)
    ));
}

mod with_stamps {
    use super::*;
    skep_cache::suite!(Tiered::new(Memory::new(1 << 20), Far { stamps: true, ..Far::new() }));
}

/// A far tier that several processes use: it counts reads, sends notifications, and fails on request.
#[derive(Default)]
struct Far {
    memory: Option<Memory>,
    stamps: bool,
    tells: bool,
    down: AtomicBool,
    /// The next read waits once between the backend and its callback.
    pause: AtomicBool,
    reads: AtomicUsize,
    stamp: AtomicU64,
    epochs: EpochWrites,
    listeners: Mutex<Vec<Listener>>,
}

impl Far {
    fn new() -> Self {
        Self { memory: Some(Memory::new(1 << 20)), ..Self::default() }
    }

    fn memory(&self) -> Result<&Memory> {
        if self.down.load(Ordering::Relaxed) {
            return Err(Error::unreachable("asking"));
        }
        self.memory.as_ref().ok_or(Error::unreachable("asking"))
    }

    fn changed(&self, key: &[u8]) {
        self.stamp.fetch_add(1, Ordering::Relaxed);
        self.listeners.lock().unwrap().iter().for_each(|listener| listener(Change::Key(key)));
    }
}

impl Driver for Far {
    fn name(&self) -> &'static str {
        "far"
    }

    async fn get<R: Send, F: FnOnce(Entry<'_>) -> R + Send>(
        &self,
        key: &[u8],
        now: Time,
        read: F,
    ) -> Result<Option<R>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.pause.swap(false, Ordering::Relaxed) {
            let record = self.memory()?.get(key, now, |entry| entry.to_record()).await?;
            let mut first = true;
            poll_fn(|_| if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }).await;
            return Ok(record.map(|record| read(record.entry())));
        }
        self.memory()?.get(key, now, read).await
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.epochs.during(record, when);
        let stored = self.memory()?.set(key, record, when, now).await;
        self.changed(key);
        stored
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        let removed = self.memory()?.remove(key, removal, now).await;
        self.changed(key);
        removed
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> Result<Option<Token>> {
        self.memory()?.lease(key, claim, now).await
    }

    async fn release(&self, key: &[u8], token: Token, now: Time) -> Result<()> {
        self.memory()?.release(key, token, now).await
    }

    fn generation(&self) -> Stamp {
        self.epochs.stamp()
    }

    fn stamp(&self, _: &[u8]) -> Stamp {
        if self.stamps { Stamp::Complete(self.stamp.load(Ordering::Relaxed)) } else { Stamp::Unknown }
    }

    fn watch(&self, listener: Listener) -> bool {
        if self.tells {
            self.listeners.lock().unwrap().push(listener);
        }
        self.tells
    }
}

impl Ready for Far {}

struct Bench {
    clock: Clock,
    far: Arc<Far>,
    tiers: Tiered<Memory, Arc<Far>>,
}

fn bench(far: Far) -> Bench {
    let far = Arc::new(far);
    Bench { clock: Clock::manual(), tiers: Tiered::new(Memory::new(1 << 20), Arc::clone(&far)), far }
}

impl Bench {
    fn set(&self, driver: &impl Driver, value: &str) -> Result<bool> {
        let record = Record::new(&Header { version: self.clock.version(), ..Header::default() }, &[], value.as_bytes());
        ready(driver.set(b"a\0key", &record, When::Always, self.clock.now()))
    }

    fn get(&self) -> Result<Option<String>> {
        let read = |entry: Entry<'_>| String::from_utf8_lossy(entry.value()).into_owned();
        ready(self.tiers.get(b"a\0key", self.clock.now(), read))
    }

    fn remove(&self) -> Result<bool> {
        let removal = Removal { version: self.clock.version(), until: self.clock.now() };
        ready(self.tiers.remove(b"a\0key", removal, self.clock.now()))
    }

    fn reads(&self) -> usize {
        self.far.reads.load(Ordering::Relaxed)
    }
}

#[test]
fn a_copy_saves_a_read_of_the_far_tier() {
    let bench = bench(Far::new());
    bench.set(&bench.tiers, "written").unwrap();
    assert_eq!(bench.get().unwrap().as_deref(), Some("written"));
    assert_eq!(bench.reads(), 0, "stored through");
    bench.clock.advance(BOUND);
    for _ in 0..3 {
        assert_eq!(bench.get().unwrap().as_deref(), Some("written"));
    }
    assert_eq!(bench.reads(), 1, "kept when read");
}

#[test]
fn a_change_by_others_is_seen_within_the_bound() {
    let bench = bench(Far::new());
    bench.set(&bench.tiers, "ours").unwrap();
    bench.set(&*bench.far, "theirs").unwrap();
    bench.clock.advance(BOUND.saturating_sub(Duration::from_millis(1)));
    assert_eq!(bench.get().unwrap().as_deref(), Some("ours"));
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(bench.get().unwrap().as_deref(), Some("theirs"));
}

#[test]
fn a_change_by_others_that_is_notified_is_seen_at_once() {
    let bench = bench(Far { tells: true, ..Far::new() });
    bench.set(&*bench.far, "one").unwrap();
    assert_eq!(bench.get().unwrap().as_deref(), Some("one"));
    bench.set(&*bench.far, "two").unwrap();
    assert_eq!(bench.get().unwrap().as_deref(), Some("two"));
    let listener = Arc::clone(&bench.far.listeners.lock().unwrap()[0]);
    let before = bench.reads();
    bench.get().unwrap();
    assert_eq!(bench.reads(), before);
    listener(Change::Everything);
    bench.get().unwrap();
    assert_eq!(bench.reads(), before + 1);
}

#[test]
fn with_stamps_no_outdated_copy_is_read() {
    let bench = bench(Far { stamps: true, ..Far::new() });
    for value in ["one", "two", "three"] {
        bench.set(&*bench.far, value).unwrap();
        assert_eq!(bench.get().unwrap().as_deref(), Some(value));
        let before = bench.reads();
        assert_eq!(bench.get().unwrap().as_deref(), Some(value));
        assert_eq!(bench.reads(), before, "the copy is up to date");
    }
}

#[test]
fn a_copy_read_before_a_write_does_not_overwrite_it() {
    let bench = bench(Far::new());
    bench.set(&*bench.far, "old").unwrap();
    bench.far.pause.store(true, Ordering::Relaxed);
    let mut reading = Box::pin(bench.tiers.get(b"a\0key", bench.clock.now(), |entry| entry.value().to_vec()));
    assert!(reading.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    bench.set(&bench.tiers, "new").unwrap();
    assert_eq!(ready(reading).unwrap().as_deref(), Some(&b"old"[..]), "it was read before");
    assert_eq!(bench.get().unwrap().as_deref(), Some("new"));
}

#[test]
fn concurrent_writers_leave_the_tiers_equal() {
    let (near, far) = (Memory::new(1 << 20), Arc::new(Memory::new(1 << 20)));
    let (tiers, clock) = (Tiered::new(near, Arc::clone(&far)), Clock::manual());
    let now = clock.now();
    for round in 0..300_u64 {
        std::thread::scope(|scope| {
            for writer in 0..3_u64 {
                let (tiers, clock) = (&tiers, &clock);
                scope.spawn(move || {
                    let header = Header { version: clock.version(), ..Header::default() };
                    let record = Record::new(&header, &[], &(round * 3 + writer).to_le_bytes());
                    ready(tiers.set(b"a\0key", &record, When::Always, now)).unwrap();
                    ready(tiers.get(b"a\0key", now, |_| ())).unwrap();
                });
            }
        });
        let value = |entry: Entry<'_>| entry.value().to_vec();
        assert_eq!(ready(tiers.get(b"a\0key", now, value)).unwrap(), ready(far.get(b"a\0key", now, value)).unwrap());
    }
}

#[test]
fn around_writes_the_far_tier_and_forgets_the_copy() {
    let mut bench = bench(Far::new());
    bench.tiers = bench.tiers.writes("a", WritePolicy::Around);
    bench.set(&bench.tiers, "one").unwrap();
    assert_eq!(bench.tiers.near().usage().entries, Some(0));
    bench.get().unwrap();
    bench.set(&bench.tiers, "two").unwrap();
    assert_eq!(bench.get().unwrap().as_deref(), Some("two"));
}

#[test]
fn write_back_reaches_the_far_tier_within_a_second() {
    let mut bench = bench(Far::new());
    bench.tiers = bench.tiers.writes("a", WritePolicy::Back);
    let far = |bench: &Bench| ready(bench.far.get(b"a\0key", bench.clock.now(), |_| ())).unwrap().is_some();
    bench.set(&bench.tiers, "one").unwrap();
    assert!(!far(&bench));
    assert_eq!(bench.get().unwrap().as_deref(), Some("one"));
    bench.clock.advance(Duration::from_secs(1));
    bench.set(&bench.tiers, "two").unwrap();
    assert!(far(&bench));
    bench.set(&bench.tiers, "three").unwrap();
    assert!(bench.remove().unwrap());
    assert_eq!(bench.get().unwrap(), None, "what was kept for later is not written after its removal");
    bench.set(&bench.tiers, "four").unwrap();
    ready(bench.tiers.flush(bench.clock.now())).unwrap();
    assert!(far(&bench));
}

#[test]
fn while_the_far_tier_fails_the_near_one_serves() {
    let mut bench = bench(Far::new());
    bench.tiers = bench.tiers.bound(Duration::from_mins(10));
    bench.set(&bench.tiers, "kept").unwrap();
    bench.far.down.store(true, Ordering::Relaxed);
    for _ in 0..10 {
        assert_eq!(bench.get().unwrap().as_deref(), Some("kept"));
        let failed = ready(bench.tiers.get(b"another", bench.clock.now(), |_| ())).unwrap_err();
        assert!(!failed.is_unreachable(), "the tiers as a whole do answer");
    }
    assert_eq!(bench.reads(), 5, "it is not asked ten times");
}

#[test]
fn keys_of_failed_writes_are_removed_when_the_far_tier_is_back() {
    let bench = bench(Far::new());
    bench.set(&bench.tiers, "old").unwrap();
    bench.far.down.store(true, Ordering::Relaxed);
    bench.remove().unwrap_err();
    assert!(bench.get().is_err() || bench.get().unwrap().is_none());
    bench.far.down.store(false, Ordering::Relaxed);
    bench.clock.advance(Duration::from_mins(1));
    assert_eq!(bench.get().unwrap(), None);
}

/// Two processes of one machine in front of a server without notifications.
#[cfg(all(feature = "shared", unix))]
mod of_three_with_a_shared_middle {
    use super::*;
    use skep_cache::{Cache, EntryPolicy, Shared};

    type Three = Tiered<Memory, Tiered<Shared, Arc<Far>>>;

    struct Machine {
        _folder: tempfile::TempDir,
        clock: Clock,
        far: Arc<Far>,
        caches: [Cache<str, String, Three>; 2],
    }

    fn machine() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let (clock, far) = (Clock::manual(), Arc::new(Far::new()));
        let caches = [(), ()].map(|()| {
            let shared = Shared::at(folder.path().join("map"), 1 << 20).open().unwrap();
            let rear = Tiered::new(shared, Arc::clone(&far));
            let driver = Tiered::new(Memory::new(1 << 20), rear);
            let builder = Cache::builder("pages").clock(clock.clone()).invalidation_lag(Duration::from_mins(1));
            builder.build(driver).unwrap()
        });
        Machine { _folder: folder, clock, far, caches }
    }

    fn get(cache: &Cache<str, String, Three>) -> Option<String> {
        cache.blocking().get("a").unwrap()
    }

    #[test]
    fn what_one_process_writes_the_other_reads_at_once() {
        let Machine { far, caches: [one, other], .. } = &machine();
        for round in 0..100 {
            let value = round.to_string();
            one.blocking().set("a", &value).unwrap();
            for _ in 0..3 {
                assert_eq!(get(other), Some(value.clone()));
            }
            other.blocking().remove("a").unwrap();
            assert_eq!(get(one), None);
        }
        one.blocking().set("a", &"kept".to_owned()).unwrap();
        (0..3).for_each(|_| drop(get(other)));
        let before = far.reads.load(Ordering::Relaxed);
        (0..10).for_each(|_| drop(get(other)));
        assert_eq!(far.reads.load(Ordering::Relaxed), before, "its own copy serves");
        assert_eq!(other.driver().near().usage().entries, Some(1));
    }

    #[test]
    fn what_other_machines_write_is_seen_within_the_bounds() {
        let Machine { clock, far, caches: [one, other], .. } = &machine();
        one.blocking().set("a", &"old".to_owned()).unwrap();
        (0..3).for_each(|_| drop(get(other)));
        let elsewhere = Cache::<str, String>::builder("pages").clock(clock.clone()).build(Arc::clone(far)).unwrap();
        elsewhere.blocking().set("a", &"new".to_owned()).unwrap();
        clock.advance(BOUND * 2);
        assert_eq!(get(other).as_deref(), Some("new"), "a copy of a copy is as old as both bounds together at most");
    }

    #[test]
    fn a_tag_that_one_process_invalidates_is_void_for_the_other_at_once() {
        let [one, other] = &machine().caches;
        one.blocking().set_with("a", &"x".to_owned(), &EntryPolicy::new(Duration::from_hours(1)).tag("t")).unwrap();
        (0..3).for_each(|_| assert_eq!(get(other).as_deref(), Some("x")));
        one.blocking().invalidate_tag("t").unwrap();
        assert_eq!(get(other), None, "without waiting for the lag");
        one.blocking().set("a", &"y".to_owned()).unwrap();
        (0..3).for_each(|_| assert_eq!(get(other).as_deref(), Some("y")));
        other.blocking().clear().unwrap();
        assert_eq!(get(one), None);
    }
}
