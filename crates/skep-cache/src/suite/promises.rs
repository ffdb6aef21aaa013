//! The promises, one function each.

use std::time::Duration;

use super::{Bench, MINUTE, SECOND};
use crate::clock::{Clock, Time, Version};
use crate::driver::{Driver, Flags, Header, MAX_KEY, Record, Removal, When};
use crate::tags::{self, Epochs, Verdict};

/// Defines the promises, and the macro that tests them all; `$dollar` is one.
macro_rules! promises {
    ($dollar:tt $($(#[$doc:meta])* async fn $name:ident($bench:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Panics
            ///
            /// If the driver breaks the promise. See [`suite!`](crate::suite!) for all of them.
            pub async fn $name(driver: &impl Driver, clock: &Clock) {
                let $bench = Bench { driver, clock, prefix: stringify!($name) };
                $body
            }
        )*

        /// Tests a driver for every promise.
        ///
        /// The expression creates a driver; it is evaluated for each promise and may `.await`. Futures run on
        /// [`driver::block_on`](crate::driver::block_on), or on the function after `on`, which takes a future and
        /// returns its value.
        ///
        /// ```
        /// mod memory {
        ///     skep_cache::suite!(skep_cache::Memory::new(1 << 20));
        /// }
        ///
        /// mod elsewhere {
        ///     fn runtime<T>(future: impl Future<Output = T>) -> T {
        ///         tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
        ///     }
        ///     async fn connect() -> skep_cache::Memory { skep_cache::Memory::new(1 << 20) }
        ///     skep_cache::suite!(connect().await, on runtime);
        /// }
        /// ```
        #[macro_export]
        macro_rules! suite {
            ($dollar driver:expr) => {
                $crate::suite!($dollar driver, on $crate::driver::block_on);
            };
            ($dollar driver:expr, on $dollar runner:path) => {
                $(
                    #[test]
                    fn $name() {
                        $dollar runner(async {
                            let clock = $crate::Clock::manual();
                            $crate::suite::$name(&$dollar driver, &clock).await;
                        });
                    }
                )*
            };
        }
    };
}

promises! { $
    /// A read returns the entry that was set.
    async fn what_is_set_is_got(bench) {
        assert_eq!(bench.get("a").await, None);
        let record = Record::new(&Header { cost: 7, idle: 8, ..bench.header(bench.clock.version()) }, &[1, 2], b"hello");
        assert!(bench.put("a", &record, When::Always).await);
        assert_eq!(bench.record_of("a").await, Some(record));
        assert_eq!(bench.get("b").await, None);
    }

    /// The last of two sets wins.
    async fn the_last_set_stays(bench) {
        bench.set("a", "old").await;
        bench.set("a", "new").await;
        assert_eq!(bench.get("a").await.as_deref(), Some("new"));
        let older = Record::new(&bench.header(Version::from_u64(1)), &[], b"set with an older clock");
        assert!(bench.put("a", &older, When::Always).await);
        assert_eq!(bench.record_of("a").await, Some(older));
    }

    /// Keys and values may contain any bytes; values may be empty, and keys have up to `MAX_KEY` bytes.
    async fn keys_and_values_are_any_bytes(bench) {
        let all: Vec<u8> = (0..=255).collect();
        let long = [b'k'; MAX_KEY];
        for key in [&b"\0"[..], b"a b\r\nc", b"\xff\xfe", &all[..MAX_KEY], &long] {
            let now = bench.clock.now();
            for value in [&b""[..], &all] {
                let record = Record::new(&bench.header(bench.clock.version()), &[], value);
                assert!(bench.driver.set(key, &record, When::Always, now).await.unwrap());
                let got = bench.driver.get(key, now, |entry| entry.value().to_vec()).await.unwrap();
                assert_eq!(got.as_deref(), Some(value), "{key:?}");
            }
        }
    }

    /// An entry lives until its last millisecond.
    async fn an_expired_entry_is_a_miss(bench) {
        bench.set("a", "hello").await;
        bench.clock.advance(MINUTE.saturating_sub(SECOND / 1000));
        assert_eq!(bench.get("a").await.as_deref(), Some("hello"));
        bench.clock.advance(SECOND / 1000);
        assert_eq!(bench.get("a").await, None);
    }

    /// An entry without an expiry lives for years.
    async fn an_entry_without_an_end_stays(bench) {
        assert!(bench.put("a", &Record::new(&Header::default(), &[], b"hello"), When::Always).await);
        bench.clock.advance(MINUTE * 60 * 24 * 365 * 10);
        assert_eq!(bench.get("a").await.as_deref(), Some("hello"));
    }

    /// A removed entry is gone, and the removal returns whether there was one.
    async fn what_is_removed_is_gone(bench) {
        bench.set("a", "hello").await;
        assert!(bench.remove("a").await);
        assert_eq!(bench.get("a").await, None);
        assert!(!bench.remove("a").await, "a mark of a removal is not an entry");
        assert!(!bench.remove("b").await);
    }

    /// `Absent` replaces an expired or removed entry, but no live one.
    async fn absent_means_that_none_is_live(bench) {
        assert!(bench.put("a", &bench.record("first"), When::Absent).await);
        assert!(!bench.put("a", &bench.record("second"), When::Absent).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("first"));
        bench.remove("a").await;
        assert!(bench.put("a", &bench.record("third"), When::Absent).await);
        bench.clock.advance(MINUTE);
        assert!(bench.put("a", &bench.record("fourth"), When::Absent).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("fourth"));
    }

    /// `Version` replaces exactly the entry that its caller has read.
    async fn version_means_that_nothing_came_between(bench) {
        assert!(!bench.put("a", &bench.record("x"), When::Version(Version::ZERO)).await, "no such entry exists");
        bench.set("a", "read").await;
        let read = bench.record_of("a").await.unwrap().entry().version();
        bench.set("a", "came between").await;
        assert!(!bench.put("a", &bench.record("made of what was read"), When::Version(read)).await);
        let read = bench.record_of("a").await.unwrap().entry().version();
        assert!(bench.put("a", &bench.record("made again"), When::Version(read)).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("made again"));
        bench.remove("a").await;
        assert!(!bench.put("a", &bench.record("x"), When::Version(read)).await, "it was removed");
    }

    /// `Newer` refuses a write that is not newer than the stored entry.
    async fn a_write_older_than_the_entry_is_refused(bench) {
        let (old, new) = (bench.record("old"), bench.record("new"));
        assert!(bench.put("a", &new, When::Newer).await);
        assert!(!bench.put("a", &old, When::Newer).await);
        assert!(!bench.put("a", &new, When::Newer).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("new"));
        assert!(bench.put("a", &bench.record("newest"), When::Newer).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("newest"));
    }

    /// A value read before a removal cannot be written after it, until the tombstone dies.
    async fn a_write_older_than_a_removal_is_refused(bench) {
        let stale = Record::new(&Header { version: bench.clock.version(), ..Header::default() }, &[], b"stale");
        bench.remove("a").await;
        assert!(!bench.put("a", &stale, When::Newer).await);
        assert_eq!(bench.get("a").await, None);
        assert!(bench.put("a", &bench.record("fresh"), When::Newer).await);
        bench.remove("a").await;
        bench.clock.advance(MINUTE);
        assert!(bench.put("a", &stale, When::Newer).await, "the mark has ended");
    }

    /// A removal with a clock that is behind still refuses the removed entry.
    async fn a_removal_with_an_older_clock_marks_what_it_removed(bench) {
        let record = bench.record("removed");
        assert!(bench.put("a", &record, When::Always).await);
        let now = bench.clock.now();
        let removal = Removal { version: Version::from_u64(1), until: now.plus(MINUTE) };
        assert!(bench.driver.remove(&bench.key("a"), removal, now).await.unwrap());
        assert!(!bench.put("a", &record, When::Newer).await);
    }

    /// One caller has the lease, until it is released.
    async fn one_has_the_lease(bench) {
        let token = bench.lease("a").await.expect("nobody has it");
        assert_eq!(bench.lease("a").await, None);
        assert!(bench.lease("b").await.is_some(), "a lease is on one key");
        assert_eq!(bench.get("a").await, None, "a lease is no entry");
        bench.release("a", token).await;
        let next = bench.lease("a").await.expect("it was given back");
        assert_ne!(next, token);
        bench.release("a", token).await;
        assert_eq!(bench.lease("a").await, None, "an old token gives nothing back");
    }

    /// The holder of a lease may set once.
    async fn the_holder_of_a_lease_may_set(bench) {
        let token = bench.lease("a").await.unwrap();
        assert!(bench.put("a", &bench.record("computed"), When::Leased(token)).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("computed"));
        assert!(!bench.put("a", &bench.record("again"), When::Leased(token)).await);
        assert!(bench.lease("a").await.is_some(), "the set ended the lease");
    }

    /// A leased key still shows its entry, which the holder replaces.
    async fn a_lease_does_not_hide_the_entry(bench) {
        bench.set("a", "stale").await;
        let token = bench.lease("a").await.unwrap();
        assert_eq!(bench.get("a").await.as_deref(), Some("stale"));
        assert_eq!(bench.lease("a").await, None);
        assert!(bench.put("a", &bench.record("fresh"), When::Leased(token)).await);
        assert_eq!(bench.get("a").await.as_deref(), Some("fresh"));
    }

    /// The result of a computation is refused if the key was removed or overwritten meanwhile.
    async fn a_lease_is_lost_when_others_write(bench) {
        let token = bench.lease("a").await.unwrap();
        bench.remove("a").await;
        assert!(!bench.put("a", &bench.record("stale"), When::Leased(token)).await, "removed since");
        assert_eq!(bench.get("a").await, None);
        let token = bench.lease("a").await.expect("the removal ended the lease");
        bench.set("a", "fresh").await;
        assert!(!bench.put("a", &bench.record("stale"), When::Leased(token)).await, "set since");
        assert_eq!(bench.get("a").await.as_deref(), Some("fresh"));
    }

    /// A lease expires, and a late write of its holder is refused.
    async fn a_lease_ends_with_its_time(bench) {
        let vanished = bench.lease("a").await.unwrap();
        bench.clock.advance(9 * SECOND);
        assert_eq!(bench.lease("a").await, None);
        bench.clock.advance(SECOND);
        let next = bench.lease("a").await.expect("ten seconds are over");
        assert!(!bench.put("a", &bench.record("late"), When::Leased(vanished)).await);
        assert!(bench.put("a", &bench.record("in time"), When::Leased(next)).await);
    }

    /// A counter counts from its first number; a removed one restarts.
    async fn a_counter_counts(bench) {
        let (key, now) = (bench.key("a"), bench.clock.now());
        let header = Header { flags: Flags::COUNTER, version: bench.clock.version(), ..Header::default() };
        let fresh = Record::new(&header, &[], &10_i64.to_le_bytes());
        assert_eq!(bench.driver.increment(&key, 1, &fresh, now).await.unwrap(), 11);
        assert_eq!(bench.driver.increment(&key, 5, &fresh, now).await.unwrap(), 16);
        assert_eq!(bench.driver.increment(&key, -20, &fresh, now).await.unwrap(), -4);
        assert_eq!(bench.record_of("a").await.unwrap().entry().value(), (-4_i64).to_le_bytes());
        assert!(bench.record_of("a").await.unwrap().entry().flags().has(Flags::COUNTER));
        assert_eq!(bench.driver.increment(&key, i64::MIN, &fresh, now).await.unwrap(), i64::MIN, "it stays at the end");
        bench.remove("a").await;
        assert_eq!(bench.driver.increment(&key, 1, &fresh, now).await.unwrap(), 11);
    }

    /// Touching changes the expiry of an entry and nothing else. A missing entry cannot be touched.
    async fn touching_moves_the_end(bench) {
        bench.set("a", "hello").await;
        let before = bench.record_of("a").await.unwrap().entry().header();
        bench.clock.advance(MINUTE / 2);
        let (key, now) = (bench.key("a"), bench.clock.now());
        assert!(bench.driver.touch(&key, now.plus(MINUTE), Time::NEVER, now).await.unwrap());
        bench.clock.advance(MINUTE);
        let after = bench.record_of("a").await.expect("it lives longer now");
        assert_eq!(after.entry().header(), Header { fresh_until: now.plus(MINUTE), dead_at: Time::NEVER, ..before });
        assert_eq!(after.entry().value(), b"hello");
        assert!(!bench.driver.touch(&bench.key("b"), Time::NEVER, Time::NEVER, now).await.unwrap());
    }

    /// Several entries are read and written in one call; missing ones are left out.
    async fn many_are_got_and_set(bench) {
        let (one, two, three) = (bench.key("1"), bench.key("2"), bench.key("3"));
        let now = bench.clock.now();
        bench.driver.set_many(&[(&one, bench.record("one")), (&three, bench.record("three"))], now).await.unwrap();
        let mut got = Vec::new();
        let read = |place, entry: crate::driver::Entry<'_>| got.push((place, entry.value().to_vec()));
        bench.driver.get_many(&[&one, &two, &three], now, read).await.unwrap();
        got.sort();
        assert_eq!(got, [(0, b"one".to_vec()), (2, b"three".to_vec())]);
    }

    /// Keys are listed by prefix, without removed and expired ones. Or the driver does not support it.
    async fn keys_are_listed_by_prefix(bench) {
        bench.set("a:1", "x").await;
        bench.set("a:2", "x").await;
        bench.set("a:3", "x").await;
        bench.set("b:1", "x").await;
        bench.remove("a:2").await;
        let ended = Record::new(&Header { dead_at: bench.clock.now().plus(SECOND), ..Header::default() }, &[], b"x");
        bench.put("a:3", &ended, When::Always).await;
        bench.clock.advance(SECOND);
        let mut keys = Vec::new();
        let listed = bench.driver.keys(&bench.key("a:"), bench.clock.now(), |key| keys.push(key.to_vec())).await;
        match listed {
            Ok(()) => assert_eq!(keys, [bench.key("a:1")]),
            Err(error) => assert!(error.is_unsupported(), "{error}"),
        }
    }

    /// A namespace is cleared without touching another. Or the driver does not support it.
    async fn clearing_empties_what_has_the_prefix(bench) {
        bench.set("a:1", "x").await;
        bench.set("b:1", "x").await;
        match bench.driver.clear(&bench.key("a:"), bench.clock.now()).await {
            Ok(()) => assert_eq!(bench.get("a:1").await, None),
            Err(error) => assert!(error.is_unsupported(), "{error}"),
        }
        assert_eq!(bench.get("b:1").await.as_deref(), Some("x"));
    }

    /// Each write of an epoch changes the generation, also with a condition.
    async fn an_epoch_changes_the_generation(bench) {
        for when in [When::Always, When::Newer] {
            let before = bench.driver.generation();
            let header = Header { flags: Flags::EPOCH, version: bench.clock.version(), ..Header::default() };
            assert!(bench.put("tag", &Record::new(&header, &[], b""), when).await);
            assert_eq!(bench.driver.generation().is_complete(), before.is_complete());
            assert_ne!(bench.driver.generation(), before, "{when:?}");
        }
        bench.clock.advance(MINUTE);
        assert!(bench.record_of("tag").await.is_some_and(|record| record.entry().flags().has(Flags::EPOCH)));
    }

    /// What one cache on the driver invalidates, another one does not find from then on, with no time passing.
    async fn an_invalidation_is_seen_at_once_by_all_caches_on_the_driver(bench) {
        let (Bench { driver, clock, .. }, lag) = (&bench, MINUTE);
        let (one, other) = (Epochs::new("one", lag), Epochs::new("other", lag));
        let tag = tags::hash("an invalidation is seen at once");
        for (invalidates, asks) in [(&one, &other), (&other, &one), (&one, &one)] {
            asks.ensure(*driver, clock, &[tag], clock.version()).await.expect("the driver works");
            let record = Record::new(&bench.header(clock.version()), &[tag], b"made of the old value");
            let judged = asks.judge_now(*driver, clock, record.entry(), clock.now()).await.expect("the driver works");
            assert_eq!(judged, Verdict::Valid);
            invalidates.invalidate(*driver, clock, tag, Duration::ZERO).await.expect("the driver works");
            let generation = asks.generation(*driver, clock.now());
            assert_ne!(asks.judge(&record.entry(), generation), Verdict::Valid, "what is in memory is not enough");
            let judged = asks.judge_now(*driver, clock, record.entry(), clock.now()).await.expect("the driver works");
            assert_eq!(judged, Verdict::Invalid);
        }
    }

    /// Each write of a key changes its stamp, if that is complete.
    async fn a_write_changes_the_stamp(bench) {
        let key = bench.key("a");
        let mut seen = vec![bench.driver.stamp(&key)];
        bench.set("a", "one").await;
        seen.push(bench.driver.stamp(&key));
        bench.set("a", "two").await;
        seen.push(bench.driver.stamp(&key));
        bench.remove("a").await;
        seen.push(bench.driver.stamp(&key));
        assert!(seen.iter().all(|stamp| !stamp.is_complete()) || seen.windows(2).all(|pair| pair[0].is_complete() && pair[0] != pair[1]), "{seen:?}");
    }
}
