//! What a cache promises about values: how long they live, what invalidates them, what fails.

#![cfg(feature = "memory")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use skep_cache::driver::{Header, MAX_KEY, Record, When, block_on, ready};
use skep_cache::{Cache, Clock, Codec, Driver, EntryPolicy, Json, Memory, Null, Raw, Version};

const SECOND: Duration = Duration::from_secs(1);

fn cache(clock: &Clock) -> Cache<str, String> {
    Cache::builder("test").clock(clock.clone()).ttl(60 * SECOND).build(Memory::new(1 << 20)).unwrap()
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn what_is_set_is_got_until_it_ends() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    assert!(cache.blocking().set("a", &text("hello")).unwrap());
    clock.advance(59 * SECOND);
    assert_eq!(cache.blocking().get("a").unwrap().as_deref(), Some("hello"));
    assert_eq!(cache.blocking().expires_at("a").unwrap().map(|at| at.since(clock.now())), Some(SECOND));
    clock.advance(SECOND);
    assert_eq!(cache.blocking().get("a").unwrap(), None);
}

#[test]
fn an_entry_may_have_a_life_of_its_own() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    cache.blocking().set_with("a", &text("short"), &EntryPolicy::new(SECOND)).unwrap();
    cache.blocking().set_with("b", &text("long"), &EntryPolicy::new(Duration::MAX)).unwrap();
    clock.advance(SECOND);
    assert_eq!(cache.blocking().get("a").unwrap(), None);
    clock.advance(1_000_000_000 * SECOND);
    assert_eq!(cache.blocking().get("b").unwrap().as_deref(), Some("long"));
}

#[test]
fn jitter_is_drawn_once_and_within_its_bounds() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    let life = EntryPolicy::new(100 * SECOND).jitter(0.5);
    let mut ends = Vec::new();
    for key in 0..100 {
        let key = key.to_string();
        cache.blocking().set_with(&key, &text("x"), &life).unwrap();
        let end = cache.blocking().expires_at(&key).unwrap();
        assert_eq!(cache.blocking().expires_at(&key).unwrap(), end);
        ends.push(end.unwrap().since(clock.now()));
    }
    assert!(ends.iter().all(|end| (50 * SECOND..=100 * SECOND).contains(end)));
    ends.sort();
    assert!(ends[90].checked_sub(ends[10]).unwrap() > 20 * SECOND, "spread");
}

#[test]
fn an_unread_entry_ends_and_a_read_one_lives_on() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    let life = EntryPolicy::new(100 * SECOND).idle(10 * SECOND);
    cache.blocking().set_with("read", &text("x"), &life).unwrap();
    cache.blocking().set_with("unread", &text("x"), &life).unwrap();
    for _ in 0..11 {
        clock.advance(9 * SECOND);
        assert!(cache.blocking().get("read").unwrap().is_some());
    }
    assert_eq!(cache.blocking().get("unread").unwrap(), None);
    clock.advance(SECOND);
    assert_eq!(cache.blocking().get("read").unwrap(), None, "it lives 100 s at most");
}

#[test]
fn namespaces_do_not_see_each_other() {
    let memory = Arc::new(Memory::new(1 << 20));
    let one = Cache::<str, u32, _>::new("one", memory.clone()).unwrap();
    let two = Cache::<str, u32, _>::new("two", memory).unwrap();
    one.blocking().set("a", &1).unwrap();
    two.blocking().set("a", &2).unwrap();
    one.blocking().clear().unwrap();
    assert_eq!((one.blocking().get("a").unwrap(), two.blocking().get("a").unwrap()), (None, Some(2)));
    one.blocking().set("a", &3).unwrap();
    assert_eq!(one.blocking().get("a").unwrap(), Some(3), "set after clearing");
}

#[test]
fn a_namespace_is_short_and_has_no_zero_byte() {
    for (namespace, is_valid) in
        [("a", true), (&*"n".repeat(64), true), ("", false), (&"n".repeat(65), false), ("a\0b", false)]
    {
        assert_eq!(Cache::<str, u32>::new(namespace, Memory::new(1 << 20)).is_ok(), is_valid, "{namespace:?}");
    }
}

#[test]
fn keys_of_any_length_fit_and_differ() {
    let cache = Cache::<str, usize>::new(&"n".repeat(64), Memory::new(1 << 20)).unwrap();
    let keys = ["a".to_owned(), "a".repeat(150), "a".repeat(1_000), format!("{}b", "a".repeat(999))];
    for (number, key) in keys.iter().enumerate() {
        cache.blocking().set(key, &number).unwrap();
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(cache.blocking().get(key).unwrap(), Some(number));
    }
    ready(cache.driver().keys(b"", Clock::system().now(), |key| assert!(key.len() <= MAX_KEY))).unwrap();
}

#[test]
fn concurrent_counts_are_not_lost() {
    let cache = Cache::<str, u32>::new("test", Memory::new(1 << 20)).unwrap();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..30 {
                scope.spawn(|| (0..1_000).for_each(|_| assert_eq!(cache.blocking().get("none").unwrap(), None)));
            }
        });
    }
    assert_eq!(cache.stats().misses, 3 * 30 * 1_000);
}

#[test]
fn a_changed_type_is_a_miss() {
    let memory = Arc::new(Memory::new(1 << 20));
    let old = Cache::<str, (u32, String), _>::new("posts", memory.clone()).unwrap();
    old.blocking().set("a", &(1, text("title"))).unwrap();
    let schema = Cache::<str, u64>::builder("posts").schema(1).build(memory.clone()).unwrap();
    assert_eq!(schema.blocking().get("a").unwrap(), None);
    let forgotten = Cache::<str, (String, String), _>::new("posts", memory).unwrap();
    assert_eq!(forgotten.blocking().get("a").unwrap(), None);
    assert_eq!(forgotten.stats().undecodable, 1);
}

#[test]
fn keys_are_of_any_type_and_listed() {
    let cache = Cache::<(u32, String), u32>::new("test", Memory::new(1 << 20)).unwrap();
    cache.blocking().set(&(1, text("a")), &1).unwrap();
    cache.blocking().set(&(2, text("b")), &2).unwrap();
    let mut keys = cache.blocking().keys::<(u32, String)>().unwrap();
    keys.sort();
    assert_eq!(keys, [(1, text("a")), (2, text("b"))]);
}

#[test]
fn a_tag_invalidates_its_entries_and_no_others() {
    let clock = Clock::manual();
    let memory = Arc::new(Memory::new(1 << 20));
    let one = Cache::<str, u32>::builder("one").clock(clock.clone()).build(memory.clone()).unwrap();
    let two = Cache::<str, u32>::builder("two").clock(clock.clone()).build(memory).unwrap();
    let life = EntryPolicy::new(60 * SECOND);
    one.blocking().set_with("ab", &1, &life.clone().tag("a").tag("b")).unwrap();
    one.blocking().set_with("b", &2, &life.clone().tag("b")).unwrap();
    one.blocking().set("none", &3).unwrap();
    two.blocking().set_with("a", &4, &life.clone().tag("a")).unwrap();
    assert_eq!(one.blocking().get("ab").unwrap(), Some(1));
    two.blocking().invalidate_tag("a").unwrap();
    assert_eq!(one.blocking().get("ab").unwrap(), None);
    assert_eq!(two.blocking().get("a").unwrap(), None, "of all caches on the driver");
    assert_eq!((one.blocking().get("b").unwrap(), one.blocking().get("none").unwrap()), (Some(2), Some(3)));
    one.blocking().set_with("ab", &5, &life.tag("a")).unwrap();
    assert_eq!(one.blocking().get("ab").unwrap(), Some(5), "stored after the invalidation");
}

#[test]
fn a_tag_is_invalidated_by_a_writer_with_other_versions() {
    // Two processes, or two instances of a component: within one millisecond, each draws versions of its own.
    let memory = Arc::new(Memory::new(1 << 20));
    let process = || {
        let clock = Clock::manual();
        (Cache::<str, u32>::builder("test").clock(clock.clone()).build(memory.clone()).unwrap(), clock)
    };
    let ((busy, clock), (idle, _)) = (process(), process());
    let tagged = EntryPolicy::new(60 * SECOND).tag("a");
    for round in 0..3 {
        let drawn: Vec<_> = (0..100).map(|_| clock.version()).collect();
        assert!(drawn.is_sorted());
        busy.blocking().set_with("x", &round, &tagged).unwrap();
        assert_eq!(busy.blocking().get("x").unwrap(), Some(round));
        idle.blocking().invalidate_tag("a").unwrap();
        assert_eq!(
            (busy.blocking().get("x").unwrap(), idle.blocking().get("x").unwrap()),
            (None, None),
            "round {round}"
        );
    }
}

#[test]
fn an_invalidation_exceeds_what_the_invalidation_of_another_tag_has_pushed_ahead() {
    // Three processes within one millisecond: the second has seen the epoch of the first, the third has not.
    let memory = Arc::new(Memory::new(1 << 20));
    let process = || Cache::<str, u32>::builder("test").clock(Clock::manual()).build(memory.clone()).unwrap();
    let (first, second, third) = (process(), process(), process());
    let tagged = |tag| EntryPolicy::new(60 * SECOND).tag(tag);
    // Both tags have an epoch by now.
    second.blocking().set_with("y", &0, &tagged("b")).unwrap();
    first.blocking().invalidate_tag("a").unwrap();
    second.blocking().set_with("x", &1, &tagged("a")).unwrap();
    second.blocking().set_with("y", &1, &tagged("b")).unwrap();
    third.blocking().invalidate_tag("b").unwrap();
    for cache in [&first, &second, &third] {
        assert_eq!((cache.blocking().get("x").unwrap(), cache.blocking().get("y").unwrap()), (Some(1), None));
    }
}

#[test]
fn voiding_all_the_time_does_not_run_away_from_it() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    for _ in 0..10_000 {
        cache.blocking().invalidate_tag("a").unwrap();
    }
    let ahead = (clock.version().to_u64() >> 22) - clock.now().millis();
    assert!(ahead < 100, "{ahead} ms");
}

#[test]
fn a_lost_epoch_invalidates_and_never_revives() {
    let memory = Arc::new(Memory::new(1 << 20));
    let cache = Cache::<str, u32, _>::new("test", memory.clone()).unwrap();
    let tagged = EntryPolicy::new(60 * SECOND).tag("a");
    cache.blocking().set_with("x", &1, &tagged).unwrap();
    cache.blocking().invalidate_tag("a").unwrap();
    ready(memory.clear(b"\0tag", Clock::system().now())).unwrap();
    cache.blocking().invalidate_tag("another, so that epochs are read again").unwrap();
    assert_eq!(cache.blocking().get("x").unwrap(), None);
    cache.blocking().set_with("x", &2, &tagged).unwrap();
    assert_eq!(cache.blocking().get("x").unwrap(), Some(2));
}

#[test]
fn updates_are_atomic() {
    let cache = Cache::<str, u64>::new("test", Memory::new(1 << 20)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    while cache.blocking().update("sum", |sum| sum.unwrap_or(0) + 1).is_err() {}
                    cache.blocking().increment("counter", 1).unwrap();
                }
            });
        }
    });
    assert_eq!(cache.blocking().get("sum").unwrap(), Some(1_000));
    assert_eq!(cache.blocking().counter("counter").unwrap(), Some(1_000));
}

#[test]
fn a_counter_is_no_value_and_starts_at_zero_after_a_clear() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    assert_eq!(cache.blocking().increment("hits", 5).unwrap(), 5);
    assert_eq!(cache.blocking().get("hits").unwrap(), None);
    cache.blocking().clear().unwrap();
    assert_eq!(cache.blocking().increment("hits", 1).unwrap(), 1);
    clock.advance(60 * SECOND);
    assert_eq!(cache.blocking().counter("hits").unwrap(), None);
    assert_eq!(cache.blocking().increment("hits", 1).unwrap(), 1);
}

#[test]
fn touching_prolongs() {
    let clock = Clock::manual();
    let cache = cache(&clock);
    cache.blocking().set("a", &text("x")).unwrap();
    clock.advance(30 * SECOND);
    assert!(cache.blocking().touch("a", 60 * SECOND).unwrap());
    clock.advance(59 * SECOND);
    assert!(cache.blocking().get("a").unwrap().is_some());
    clock.advance(SECOND);
    assert!(!cache.blocking().touch("a", 60 * SECOND).unwrap());
}

#[test]
fn many_are_read_and_written_together() {
    let cache = cache(&Clock::manual());
    let (one, two) = (text("1"), text("2"));
    assert!(cache.blocking().set_many([("a", &one), ("b", &two)]).unwrap());
    assert_eq!(cache.blocking().get_many(["a", "c", "b"]).unwrap(), [Some(one), None, Some(two)]);
    assert_eq!((cache.stats().hits, cache.stats().misses, cache.stats().sets), (2, 1, 2));
}

#[test]
fn raw_bytes_are_shared_with_the_driver() {
    let cache = Cache::<str, bytes::Bytes>::builder("raw").codec(Raw).build(Memory::new(1 << 20)).unwrap();
    cache.blocking().set("a", &bytes::Bytes::from_static(b"hello")).unwrap();
    let (one, two) = (cache.blocking().get("a").unwrap().unwrap(), cache.blocking().get("a").unwrap().unwrap());
    assert_eq!(one, "hello");
    assert_eq!(one.as_ptr(), two.as_ptr());
    assert_eq!(cache.blocking().read("a", <[u8]>::len).unwrap(), Some(5));
}

#[test]
fn a_codec_refuses_what_it_did_not_write() {
    assert!(Codec::<String>::decode(&Json, b"{").is_err());
    assert!(Codec::<String>::decode(&Raw, &[0xff]).is_err());
    assert!(Codec::<u8>::decode(&skep_cache::Postcard, &[1, 2]).is_err());
}

#[cfg(feature = "compress")]
#[test]
fn large_values_are_compressed_and_damage_is_a_miss() {
    let memory = Arc::new(Memory::new(1 << 20));
    let cache = Cache::<str, String>::builder("test").compress(1_000).build(memory.clone()).unwrap();
    let large = "la".repeat(50_000);
    cache.blocking().set("a", &large).unwrap();
    assert!(memory.usage().bytes.unwrap() < 5_000);
    assert_eq!(cache.blocking().get("a").unwrap(), Some(large.clone()));
    let (now, mut key) = (Clock::system().now(), Vec::new());
    ready(memory.keys(b"test", now, |found| key = found.to_vec())).unwrap();
    let record = ready(memory.get(&key, now, |entry| entry.to_record())).unwrap().unwrap();
    for length in [0_u32, 1, 99_999, u32::MAX] {
        let mut damaged = record.entry().value().to_vec();
        damaged[..4].copy_from_slice(&length.to_le_bytes());
        let damaged = Record::new(&record.entry().header(), &[], &damaged);
        ready(memory.set(&key, &damaged, When::Always, now)).unwrap();
        assert_eq!(cache.blocking().get("a").unwrap(), None, "{length}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_not_stored_and_no_error() {
    let cache = Cache::<str, Vec<u8>>::new("test", Memory::new(1 << 20)).unwrap();
    assert!(!cache.blocking().set("a", &vec![0; 2 << 20]).unwrap());
    assert_eq!(cache.stats().failures, 1);
    let strict = Cache::<str, Vec<u8>>::builder("test").errors().build(Memory::new(1 << 20)).unwrap();
    assert!(strict.blocking().set("a", &vec![0; 2 << 20]).unwrap_err().is_too_large());
}

#[test]
fn a_switched_off_cache_computes_each_time() {
    let cache = Cache::<str, u32, _>::new("test", Null).unwrap();
    for expected in 0..3 {
        assert_eq!(cache.blocking().get_or("a", || Ok::<_, std::io::Error>(expected)).unwrap(), expected);
    }
    assert!(cache.blocking().keys::<String>().unwrap().is_empty());
}

#[test]
fn what_a_foreign_program_stored_is_a_miss() {
    let memory = Arc::new(Memory::new(1 << 20));
    let cache = Cache::<str, String, _>::new("test", memory.clone()).unwrap();
    cache.blocking().set("a", &text("x")).unwrap();
    let (now, mut key) = (Clock::system().now(), Vec::new());
    ready(memory.keys(b"test", now, |found| key = found.to_vec())).unwrap();
    let version = Clock::system().version();
    let foreign = Record::new(&Header { version, ..Header::default() }, &[], &[0xff; 3]);
    ready(memory.set(&key, &foreign, When::Always, now)).unwrap();
    assert_eq!(cache.blocking().get("a").unwrap(), None);
    assert_eq!(block_on(cache.get_or("a", || async { Ok::<_, std::io::Error>(text("new")) })).unwrap(), "new");
}

#[test]
fn what_is_said_to_weigh_more_takes_more_room() {
    let kept = |weight: u32| {
        let cache = Cache::<u32, u32>::new("test", Memory::new(1 << 20)).unwrap();
        let life = EntryPolicy::new(Duration::from_mins(1)).weight(weight);
        (0..1_000).for_each(|key| assert!(cache.blocking().set_with(&key, &key, &life).unwrap()));
        cache.usage().entries.unwrap()
    };
    assert!(kept(0) > 1_000);
    assert!((50..110).contains(&kept(10_000)), "{}", kept(10_000));
}

#[test]
fn each_version_is_higher_than_the_one_before_and_than_one_seen_elsewhere() {
    let clock = Clock::manual();
    let drawn: Vec<_> = (0..10_000).map(|_| clock.version()).collect();
    assert!(drawn.is_sorted_by(|a, b| a < b));
    let far_ahead = Version::from_u64(clock.version().to_u64() + (1 << 40));
    clock.observe(far_ahead);
    assert!(clock.version() > far_ahead);
}

struct Noted(AtomicBool);

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn advancing_a_manual_clock_wakes_due_sleepers() {
    let clock = Clock::manual();
    let mut sleep = Box::pin(clock.sleep_until(clock.now().plus(2 * SECOND)));
    let noted = Arc::new(Noted(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&noted));
    let mut cx = Context::from_waker(&waker);
    assert!(sleep.as_mut().poll(&mut cx).is_pending());
    clock.advance(SECOND);
    assert!(!noted.0.load(Ordering::Acquire));
    clock.advance(SECOND);
    assert!(noted.0.load(Ordering::Acquire));
    assert!(sleep.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn the_system_clock_wakes_without_a_runtime() {
    let clock = Clock::system();
    let start = Instant::now();
    block_on(clock.sleep_until(clock.now().plus(Duration::from_millis(20))));
    assert!(start.elapsed() >= Duration::from_millis(15), "{:?}", start.elapsed());
}
