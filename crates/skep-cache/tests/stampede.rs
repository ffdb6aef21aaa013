//! What a cache promises about computations: who computes, who waits, and what they get when it goes wrong.

#![cfg(feature = "memory")]

use std::future::{pending, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use skep_cache::driver::block_on;
use skep_cache::{Cache, Clock, Computed, EntryPolicy, Error, Memory};

const SECOND: Duration = Duration::from_secs(1);

type Texts = Cache<str, String, Arc<Memory>>;

/// A cache as another process would have it: its own single flight, the same driver.
fn process(memory: &Arc<Memory>, clock: &Clock) -> Texts {
    Cache::<str, String>::builder("test")
        .clock(clock.clone())
        .ttl(60 * SECOND)
        .stale(60 * SECOND)
        .stale_if_error(600 * SECOND)
        .soft_timeout(SECOND)
        .hard_timeout(5 * SECOND)
        .early(0.0)
        .build(Arc::clone(memory))
        .unwrap()
}

fn one() -> (Arc<Memory>, Clock, Texts) {
    let (memory, clock) = (Arc::new(Memory::new(1 << 20)), Clock::manual());
    let cache = process(&memory, &clock);
    (memory, clock, cache)
}

async fn is(value: &str) -> io::Result<String> {
    Ok(value.to_owned())
}

async fn fails() -> io::Result<String> {
    Err(io::Error::other("the database is down"))
}

/// Polls once and says whether that was enough.
async fn ready_now<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_wait_for_one_computation() {
    let cache = Cache::<str, String>::new("test", Memory::new(1 << 20)).unwrap();
    let computed = Arc::new(AtomicU32::new(0));
    let waiters: Vec<_> = (0..1_000)
        .map(|_| {
            let (cache, computed) = (cache.clone(), Arc::clone(&computed));
            tokio::spawn(async move {
                let compute = || async {
                    computed.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    is("value").await
                };
                cache.get_or("cold", compute).await.unwrap()
            })
        })
        .collect();
    for waiter in waiters {
        assert_eq!(waiter.await.unwrap(), "value");
    }
    assert_eq!(computed.load(Ordering::Relaxed), 1);
    assert_eq!(cache.stats().computations, 1);
}

#[test]
fn runtimes_and_plain_threads_wait_for_each_other() {
    let cache = Cache::<str, String>::new("test", Memory::new(1 << 20)).unwrap();
    let computed = AtomicU32::new(0);
    let slow = || {
        computed.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(50));
        Ok::<_, io::Error>("value".to_owned())
    };
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (cache, slow) = (&cache, &slow);
            scope.spawn(move || {
                let value = if thread % 2 == 0 {
                    cache.blocking().get_or("cold", slow)
                } else {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(cache.get_or("cold", || async { slow() }))
                };
                assert_eq!(value.unwrap(), "value");
            });
        }
    });
    assert_eq!(computed.load(Ordering::Relaxed), 1);
}

#[test]
fn processes_wait_for_each_other() {
    let memory = Arc::new(Memory::new(1 << 20));
    let clock = Clock::system();
    let computed = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let cache = process(&memory, &clock);
                let value = cache.blocking().get_or("cold", || {
                    computed.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(30));
                    Ok::<_, io::Error>("value".to_owned())
                });
                assert_eq!(value.unwrap(), "value");
            });
        }
    });
    assert_eq!(computed.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_dropped_computation_is_taken_over_by_who_waits() {
    let (_, _, cache) = one();
    let mut first = Box::pin(cache.get_or("a", pending::<io::Result<String>>));
    assert!(ready_now(first.as_mut()).await.is_none());
    let mut second = pin!(cache.get_or("a", || is("second")));
    assert!(ready_now(second.as_mut()).await.is_none(), "it waits");
    drop(first);
    assert_eq!(second.await.unwrap(), "second");
}

#[tokio::test]
async fn a_dropped_computation_gives_its_lease_back() {
    let (memory, clock, cache) = one();
    let mut first = Box::pin(cache.get_or("a", pending::<io::Result<String>>));
    assert!(ready_now(first.as_mut()).await.is_none());
    drop(first);
    assert_eq!(process(&memory, &clock).get_or("a", || is("other")).await.unwrap(), "other");
}

#[tokio::test]
async fn an_error_reaches_all_who_wait_and_is_not_stored() {
    let (_, _, cache) = one();
    let (ask, answer) = tokio::sync::oneshot::channel::<()>();
    let mut first = pin!(cache.get_or("a", || async {
        answer.await.unwrap();
        fails().await
    }));
    assert!(ready_now(first.as_mut()).await.is_none());
    let mut second = pin!(cache.get_or("a", || is("not asked")));
    assert!(ready_now(second.as_mut()).await.is_none());
    ask.send(()).unwrap();
    for error in [first.await.unwrap_err(), second.await.unwrap_err()] {
        assert!(error.is_computation());
        assert_eq!(error.to_string(), "the computation failed: the database is down");
    }
    assert_eq!(cache.get_or("a", || is("again")).await.unwrap(), "again");
}

#[tokio::test]
async fn a_panic_goes_on_for_who_computes_and_is_an_error_for_who_waits() {
    let (_, _, cache) = one();
    let (ask, answer) = tokio::sync::oneshot::channel::<()>();
    let panics = cache.clone();
    let first = tokio::spawn(async move {
        panics
            .get_or("a", || async {
                answer.await.unwrap();
                assert!(!answer_is_bad(), "out of range");
                is("never").await
            })
            .await
    });
    tokio::task::yield_now().await;
    let mut second = pin!(cache.get_or("a", || is("not asked")));
    assert!(ready_now(second.as_mut()).await.is_none());
    ask.send(()).unwrap();
    assert!(first.await.unwrap_err().is_panic());
    assert_eq!(second.await.unwrap_err().to_string(), "the computation panicked: out of range");
    assert_eq!(cache.get_or("a", || is("again")).await.unwrap(), "again");
}

fn answer_is_bad() -> bool {
    true
}

#[tokio::test]
async fn while_one_computes_others_get_the_stale_value() {
    let (_, clock, cache) = one();
    cache.set("a", &"old".to_owned()).await.unwrap();
    clock.advance(61 * SECOND);
    assert_eq!(cache.get("a").await.unwrap(), None, "`get` gives what is fresh only");
    let mut first = pin!(cache.get_or("a", pending::<io::Result<String>>));
    assert!(ready_now(first.as_mut()).await.is_none());
    assert_eq!(cache.get_or("a", || is("not asked")).await.unwrap(), "old");
    clock.advance(SECOND);
    assert_eq!(first.await.unwrap(), "old", "the soft limit is over");
    assert_eq!(cache.get_or("a", || is("new")).await.unwrap(), "new");
}

#[tokio::test]
async fn another_process_that_computes_leaves_us_the_stale_value() {
    let (memory, clock, cache) = one();
    cache.set("a", &"old".to_owned()).await.unwrap();
    clock.advance(61 * SECOND);
    let mut first = pin!(cache.get_or("a", pending::<io::Result<String>>));
    assert!(ready_now(first.as_mut()).await.is_none());
    assert_eq!(process(&memory, &clock).get_or("a", || is("not asked")).await.unwrap(), "old");
}

#[tokio::test]
async fn after_an_error_the_old_value_is_given_for_its_time() {
    let (_, clock, cache) = one();
    cache.set("a", &"old".to_owned()).await.unwrap();
    clock.advance(300 * SECOND);
    assert_eq!(cache.get_or("a", fails).await.unwrap(), "old");
    assert_eq!(cache.get_or("a", || is("not asked for 5 s")).await.unwrap(), "old");
    clock.advance(5 * SECOND);
    assert_eq!(cache.get_or("a", || is("new")).await.unwrap(), "new");
    clock.advance(660 * SECOND);
    assert!(cache.get_or("a", fails).await.unwrap_err().is_computation(), "its time is over");
}

#[tokio::test]
async fn failing_for_long_does_not_prolong_the_old_value() {
    let (_, clock, cache) = one();
    cache.set("a", &"old".to_owned()).await.unwrap();
    clock.advance(60 * SECOND);
    for _ in 0..60 {
        assert_eq!(cache.get_or("a", fails).await.unwrap(), "old");
        clock.advance(10 * SECOND);
    }
    assert!(cache.get_or("a", fails).await.unwrap_err().is_computation());
}

#[tokio::test]
async fn a_computation_ends_at_the_hard_limit() {
    let (_, clock, cache) = one();
    let mut first = pin!(cache.get_or("a", pending::<io::Result<String>>));
    let mut second = pin!(cache.get_or("a", || is("not asked")));
    assert!(ready_now(first.as_mut()).await.is_none());
    assert!(ready_now(second.as_mut()).await.is_none());
    clock.advance(5 * SECOND);
    assert!(first.await.unwrap_err().is_timeout());
    assert!(second.await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn what_was_removed_while_it_was_computed_is_not_stored() {
    let (memory, clock, cache) = one();
    for elsewhere in [false, true] {
        let (ask, answer) = tokio::sync::oneshot::channel::<()>();
        let mut first = pin!(cache.get_or("a", || async {
            answer.await.unwrap();
            is("stale").await
        }));
        assert!(ready_now(first.as_mut()).await.is_none());
        if elsewhere { process(&memory, &clock).remove("a").await } else { cache.remove("a").await }.unwrap();
        ask.send(()).unwrap();
        assert_eq!(first.await.unwrap(), "stale", "it asked before the removal");
        assert_eq!(cache.get("a").await.unwrap(), None, "elsewhere: {elsewhere}");
    }
    assert_eq!(cache.stats().refused, 2);
}

#[tokio::test]
async fn who_asks_after_a_removal_does_not_get_what_was_computed_before() {
    let (_, _, cache) = one();
    let mut first = pin!(cache.get_or("a", pending::<io::Result<String>>));
    assert!(ready_now(first.as_mut()).await.is_none());
    cache.remove("a").await.unwrap();
    assert_eq!(cache.get_or("a", || is("fresh")).await.unwrap(), "fresh");
}

#[tokio::test]
async fn what_was_tagged_is_void_if_the_tag_was_invalidated_while_it_was_computed() {
    let (_, _, cache) = one();
    let compute = || async {
        cache.invalidate_tag("t").await.unwrap();
        Ok::<_, io::Error>(Computed::new("stale".to_owned()).policy(EntryPolicy::new(60 * SECOND).tag("t")))
    };
    cache.set_with("b", &"x".to_owned(), &EntryPolicy::new(60 * SECOND).tag("t")).await.unwrap();
    cache.get_or("a", compute).await.unwrap();
    assert_eq!(cache.get("a").await.unwrap(), None);
}

#[tokio::test]
async fn the_computation_may_say_how_long_its_value_lives() {
    let (_, clock, cache) = one();
    let short = || async { Ok::<_, Error>(Computed::new("short".to_owned()).policy(EntryPolicy::new(SECOND))) };
    cache.get_or("a", short).await.unwrap();
    clock.advance(SECOND);
    assert_eq!(cache.get("a").await.unwrap(), None);
    let unstored = || async { Ok::<_, Error>(Computed::new("private".to_owned()).not_stored()) };
    assert_eq!(cache.get_or("b", unstored).await.unwrap(), "private");
    assert_eq!(cache.get_or("b", || is("other")).await.unwrap(), "other");
}

#[tokio::test]
async fn that_there_is_none_is_stored_for_its_own_time() {
    let clock = Clock::manual();
    let cache =
        Cache::<str, u32>::builder("test").clock(clock.clone()).negative(SECOND).build(Memory::new(1 << 20)).unwrap();
    let asked = AtomicU32::new(0);
    let none = || async {
        asked.fetch_add(1, Ordering::Relaxed);
        Ok::<_, io::Error>(None::<u32>)
    };
    for _ in 0..3 {
        assert_eq!(cache.get_or_none("a", none).await.unwrap(), None);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    clock.advance(SECOND);
    assert_eq!(cache.get_or_none("a", || async { Ok::<_, io::Error>(Some(7)) }).await.unwrap(), Some(7));
}

#[tokio::test]
async fn a_slow_value_is_refreshed_early_by_few() {
    let clock = Clock::manual();
    let cache = Cache::<str, u64>::builder("test").clock(clock.clone()).ttl(100 * SECOND).build(Memory::new(1 << 20));
    let cache = cache.unwrap();
    let slow = || async {
        clock.advance(10 * SECOND);
        Ok::<_, io::Error>(clock.now().millis())
    };
    cache.get_or("a", slow).await.unwrap();
    let ends = cache.expires_at("a").await.unwrap().unwrap();
    let refreshed = AtomicU64::new(0);
    let note = || async { Ok::<_, io::Error>(refreshed.fetch_add(1, Ordering::Relaxed)) };
    // 90 of 100 seconds are left: one in 8100 is drawn. At the end, all are.
    for _ in 0..100 {
        cache.get_or("a", note).await.unwrap();
    }
    assert!(refreshed.load(Ordering::Relaxed) <= 1);
    clock.advance(ends.since(clock.now()).checked_sub(SECOND / 1000).unwrap());
    for _ in 0..100 {
        cache.get_or("a", note).await.unwrap();
    }
    assert!((1..=2).contains(&refreshed.load(Ordering::Relaxed)), "by one, and fresh then");
}

#[tokio::test]
async fn a_stale_value_is_returned_without_waiting() {
    let clock = Clock::manual();
    let cache = Cache::<str, String>::builder("test")
        .clock(clock.clone())
        .ttl(SECOND)
        .stale(60 * SECOND)
        .spawner(|future| drop(tokio::spawn(future)))
        .build(Memory::new(1 << 20))
        .unwrap();
    assert_eq!(cache.get_or_in_background("a", || is("old")).await.unwrap(), "old");
    clock.advance(SECOND);
    let (ask, answer) = tokio::sync::oneshot::channel::<()>();
    let slow = || async {
        answer.await.unwrap();
        is("new").await
    };
    assert_eq!(cache.get_or_in_background("a", slow).await.unwrap(), "old");
    tokio::task::yield_now().await;
    assert_eq!(cache.get_or_in_background("a", || is("not asked")).await.unwrap(), "old");
    ask.send(()).unwrap();
    while cache.stats().computations < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(cache.get("a").await.unwrap().as_deref(), Some("new"));
}

#[test]
fn computations_may_borrow_and_stay_on_their_thread() {
    let (_, _, cache) = one();
    let local = std::rc::Rc::new("borrowed".to_owned());
    let value = block_on(cache.get_or("a", || async { Ok::<_, io::Error>(String::clone(&local)) }));
    assert_eq!(value.unwrap(), "borrowed");
}

#[test]
fn a_future_over_sendable_parts_is_sendable() {
    fn sendable<T: Send>(future: T) -> T {
        future
    }
    let (_, _, cache) = one();
    let value = block_on(sendable(cache.get_or("a", || is("value"))));
    assert_eq!(value.unwrap(), "value");
    assert!(block_on(sendable(cache.get("a"))).unwrap().is_some());
    assert_eq!(block_on(sendable(cache.get_many(["a"]))).unwrap().len(), 1);
    assert!(block_on(sendable(cache.update("a", Option::unwrap_or_default))).is_ok());
}

#[tokio::test]
async fn who_asks_after_an_invalidation_does_not_get_what_was_computed_before() {
    let (memory, clock, cache) = one();
    let life = || EntryPolicy::new(60 * SECOND).tag("comments");
    // Invalidated by tag and by namespace; an entry that is stored and one that is not.
    for (round, (clear, keep)) in [(false, true), (true, true), (false, false)].into_iter().enumerate() {
        let key = format!("page {round}");
        let (begun, gate) = (AtomicU32::new(0), tokio::sync::Notify::new());
        let compute = |value: &'static str| {
            let (begun, gate) = (&begun, &gate);
            move || async move {
                if begun.fetch_add(1, Ordering::Relaxed) == 0 {
                    gate.notified().await;
                }
                let answer = Computed::new(value.to_owned()).policy(life());
                Ok::<_, io::Error>(if keep { answer } else { answer.not_stored() })
            }
        };
        let mut before = pin!(cache.get_or(&key, compute("without the comment")));
        assert!(ready_now(before.as_mut()).await.is_none());
        if clear {
            cache.clear().await.unwrap();
        } else {
            process(&memory, &clock).invalidate_tag("comments").await.unwrap();
        }
        let mut after = pin!(cache.get_or(&key, compute("with the comment")));
        assert!(ready_now(after.as_mut()).await.is_none());
        gate.notify_one();
        assert_eq!(before.await.unwrap(), "without the comment");
        assert_eq!(after.await.unwrap(), "with the comment", "{key}");
        assert_eq!(begun.load(Ordering::Relaxed), 2);
    }
}
