//! The contract of drivers, as tests. One line tests a driver: [`suite!`](crate::suite!).
//!
//! Each promise is a function of a driver and a manual clock, and can be called alone. Tests advance the clock instead
//! of waiting. Each promise uses keys of its own (they begin with its name), so all may share one backend.

use std::time::Duration;

use crate::clock::{Clock, Version};
use crate::driver::{Claim, Driver, Entry, Header, Record, Removal, Token, When};

mod promises;

pub use promises::*;

/// A driver under test, with helpers for the promises.
pub(crate) struct Bench<'a, D> {
    driver: &'a D,
    clock: &'a Clock,
    prefix: &'static str,
}

const MINUTE: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);

impl<D: Driver> Bench<'_, D> {
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
