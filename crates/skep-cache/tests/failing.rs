//! What a cache promises about a driver that fails.
#![cfg(feature = "memory")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use skep_cache::driver::{Claim, Entry, EpochWrites, Record, Removal, Stamp, Token, When, block_on};
use skep_cache::{Cache, Clock, Driver, Error, Memory, Result, Time};

/// A driver whose backend can be taken away.
#[derive(Default)]
struct Frail {
    memory: Option<Memory>,
    is_away: AtomicBool,
    asked: AtomicUsize,
    epochs: EpochWrites,
}

impl Frail {
    fn memory(&self) -> Result<&Memory> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let memory = self.memory.as_ref().filter(|_| !self.is_away.load(Ordering::Relaxed));
        memory.ok_or_else(|| Error::unreachable("asking"))
    }
}

impl Driver for Frail {
    fn name(&self) -> &'static str {
        "frail"
    }

    async fn get<R: Send, F: FnOnce(Entry<'_>) -> R + Send>(
        &self,
        key: &[u8],
        now: Time,
        read: F,
    ) -> Result<Option<R>> {
        self.memory()?.get(key, now, read).await
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> Result<bool> {
        let _write = self.epochs.during(record, when);
        self.memory()?.set(key, record, when, now).await
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> Result<bool> {
        self.memory()?.remove(key, removal, now).await
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
}

struct Bench {
    clock: Clock,
    driver: Arc<Frail>,
    cache: Cache<str, u32, Arc<Frail>>,
    strict: Cache<str, u32, Arc<Frail>>,
}

fn bench() -> Bench {
    let driver = Arc::new(Frail { memory: Some(Memory::new(1 << 20)), ..Frail::default() });
    let clock = Clock::manual();
    let builder = || Cache::<str, u32>::builder("test").clock(clock.clone());
    let cache = builder().build(Arc::clone(&driver)).unwrap();
    let strict = builder().errors().build(Arc::clone(&driver)).unwrap();
    Bench { clock, driver, cache, strict }
}

async fn two() -> std::io::Result<u32> {
    Ok(2)
}

#[test]
fn a_failure_is_a_miss_and_counted() {
    let Bench { driver, cache, .. } = bench();
    block_on(async {
        assert!(cache.set("a", &1).await.unwrap());
        driver.is_away.store(true, Ordering::Relaxed);
        assert_eq!(cache.get("a").await.unwrap(), None);
        assert!(!cache.set("a", &2).await.unwrap(), "it says that it did not store");
        assert_eq!(cache.stats().failures, 2);
        assert_eq!(cache.get_or("a", two).await.unwrap(), 2, "who asks for a value gets it computed");
        cache.increment("n", 1).await.unwrap_err();
        cache.update("a", |old| old.unwrap_or(0) + 1).await.unwrap_err();
        driver.is_away.store(false, Ordering::Relaxed);
    });
}

#[test]
fn a_failed_invalidation_is_an_error_with_each_policy_and_with_an_open_circuit_breaker() {
    let Bench { driver, cache, .. } = bench();
    block_on(async {
        assert!(cache.set("a", &1).await.unwrap());
        driver.is_away.store(true, Ordering::Relaxed);
        for _ in 0..10 {
            assert!(cache.invalidate_tag("t").await.unwrap_err().is_unreachable());
            assert!(cache.clear().await.unwrap_err().is_unreachable());
            assert!(cache.remove("a").await.unwrap_err().is_unreachable());
        }
        assert!(cache.stats().breaker_open);
        assert_eq!(cache.stats().failures, 30);
        driver.is_away.store(false, Ordering::Relaxed);
        assert!(cache.remove("a").await.unwrap(), "a removal reaches the driver although the circuit breaker is open");
        assert!(!cache.stats().breaker_open);
        assert_eq!(cache.get("a").await.unwrap(), None);
    });
}

#[test]
fn a_failure_is_an_error_where_that_is_the_policy() {
    let Bench { driver, strict, .. } = bench();
    block_on(async {
        driver.is_away.store(true, Ordering::Relaxed);
        assert!(strict.get("a").await.unwrap_err().is_unreachable());
        assert!(strict.set("a", &1).await.unwrap_err().is_unreachable());
        assert!(strict.remove("a").await.unwrap_err().is_unreachable());
        assert!(strict.get_or("a", two).await.unwrap_err().is_unreachable());
        assert!(strict.stats().failures >= 4);
    });
}

#[test]
fn a_driver_that_does_not_answer_is_left_alone_and_tried_again() {
    let Bench { clock, driver, cache, .. } = bench();
    block_on(async {
        assert!(cache.set("a", &1).await.unwrap());
        driver.is_away.store(true, Ordering::Relaxed);
        let before = driver.asked.load(Ordering::Relaxed);
        for _ in 0..100 {
            assert_eq!(cache.get("a").await.unwrap(), None);
        }
        assert_eq!(driver.asked.load(Ordering::Relaxed) - before, 5, "it is not asked a hundred times");
        assert!(cache.stats().breaker_open);
        driver.is_away.store(false, Ordering::Relaxed);
        clock.advance(Duration::from_secs(1));
        assert_eq!(cache.get("a").await.unwrap(), Some(1));
        assert!(!cache.stats().breaker_open);
    });
}
