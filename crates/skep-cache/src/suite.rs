//! The contract of drivers, as tests. One line tests a driver: [`suite!`](crate::suite!).
//!
//! Each promise is a function of a driver and a manual clock, and can be called alone. Tests advance the clock instead of waiting. Each
//! promise uses keys of its own (they begin with its name), so all may share one backend.

use std::time::Duration;

use crate::clock::{Clock, Time, Version};
use crate::driver::{Claim, Driver, Entry, Flags, Header, Record, Removal, Token, When};

mod promises;

pub use promises::*;

/// Tests a driver for every promise.
///
/// The expression creates a driver; it is evaluated for each promise and may `.await`. Futures run on
/// [`driver::block_on`](crate::driver::block_on), or on the function after `on`, which takes a future and returns its value.
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
    ($driver:expr) => {
        $crate::suite!($driver, on $crate::driver::block_on);
    };
    ($driver:expr, on $runner:path) => {
        $crate::suite! { @each $driver, $runner,
            what_is_set_is_got
            the_last_set_stays
            keys_and_values_are_any_bytes
            an_expired_entry_is_a_miss
            an_entry_without_an_end_stays
            what_is_removed_is_gone
            absent_means_that_none_is_live
            version_means_that_nothing_came_between
            a_write_older_than_the_entry_is_refused
            a_write_older_than_a_removal_is_refused
            a_removal_with_an_older_clock_marks_what_it_removed
            one_has_the_lease
            the_holder_of_a_lease_may_set
            a_lease_does_not_hide_the_entry
            a_lease_is_lost_when_others_write
            a_lease_ends_with_its_time
            a_counter_counts
            touching_moves_the_end
            many_are_got_and_set
            keys_are_listed_by_prefix
            clearing_empties_what_has_the_prefix
            an_epoch_changes_the_generation
            a_write_changes_the_stamp
        }
    };
    (@each $driver:expr, $runner:path, $($promise:ident)*) => {
        #[cfg(test)]
        #[allow(dead_code, reason = "a test of the suite compares this list with the promises")]
        pub(crate) const PROMISES: &[&str] = &[$(stringify!($promise)),*];
        $(
            #[test]
            fn $promise() {
                $runner(async {
                    let clock = $crate::Clock::manual();
                    $crate::suite::$promise(&$driver, &clock).await;
                });
            }
        )*
    };
}

/// A driver under test, with helpers for the promises.
pub(crate) struct Bench<'a, D> {
    driver: &'a D,
    clock: &'a Clock,
    prefix: &'static str,
}

const MINUTE: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

impl<'a, D: Driver> Bench<'a, D> {
    fn new(driver: &'a D, clock: &'a Clock, prefix: &'static str) -> Self {
        Self { driver, clock, prefix }
    }

    fn key(&self, key: &str) -> Vec<u8> {
        format!("{}:{key}", self.prefix).into_bytes()
    }

    fn header(&self, version: Version) -> Header {
        let end = self.clock.now().plus(MINUTE);
        Header { version, fresh_until: end, dead_at: end, ..Header::default() }
    }

    /// A record of this value, drawn now, that lives for a minute.
    fn record(&self, value: &str) -> Record {
        Record::new(&self.header(self.clock.version()), &[], value.as_bytes())
    }

    async fn set(&self, key: &str, value: &str) {
        assert!(self.put(key, &self.record(value), When::Always).await, "{key} is not stored");
    }

    async fn put(&self, key: &str, record: &Record, when: When) -> bool {
        self.driver.set(&self.key(key), record, when, self.clock.now()).await.expect("the driver works")
    }

    async fn get(&self, key: &str) -> Option<String> {
        self.record_of(key).await.map(|record| String::from_utf8_lossy(record.entry().value()).into_owned())
    }

    async fn record_of(&self, key: &str) -> Option<Record> {
        let now = self.clock.now();
        // The mark belongs to the near tier, not to the stored entry.
        let read = |entry: Entry<'_>| entry.with_header(&Header { mark: 0, ..entry.header() });
        self.driver.get(&self.key(key), now, read).await.expect("the driver works")
    }

    /// Removes, with a tombstone for a minute.
    async fn remove(&self, key: &str) -> bool {
        let removal = Removal { version: self.clock.version(), until: self.clock.now().plus(MINUTE) };
        self.driver.remove(&self.key(key), removal, self.clock.now()).await.expect("the driver works")
    }

    /// Claims for ten seconds.
    async fn lease(&self, key: &str) -> Option<Token> {
        let now = self.clock.now();
        let claim = Claim { token: Token(self.clock.version().to_u64()), until: now.plus(10 * SECOND) };
        self.driver.lease(&self.key(key), claim, now).await.expect("the driver works")
    }

    async fn release(&self, key: &str, token: Token) {
        self.driver.release(&self.key(key), token, self.clock.now()).await.expect("the driver works");
    }
}

/// A counter with this number that never expires.
pub(crate) fn counter(version: Version, number: i64) -> Record {
    Record::new(&Header { flags: Flags::COUNTER, version, ..Header::default() }, &[], &number.to_le_bytes())
}

/// For entries without an expiry.
pub(crate) const NEVER: Time = Time::NEVER;

#[cfg(all(test, feature = "memory"))]
mod tests {
    mod memory {
        crate::suite!(crate::Memory::new(1 << 20));
    }

    #[test]
    fn the_macro_lists_every_promise() {
        assert_eq!(memory::PROMISES, super::promises::NAMES);
    }
}
