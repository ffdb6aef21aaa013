//! Our drivers, called directly and through `Cache`.

use skep_cache::driver::{Header, Record, When};
use skep_cache::{Clock, Driver, Memory, Time};

use super::{Peer, Start, here};
use crate::Result;
use crate::load::{Cache, seen};

/// A driver as a program would call it without `Cache`: it asks for the time with each call, or would show what is dead.
struct Raw<D> {
    driver: D,
    clock: Clock,
}

fn raw<D: Driver>(driver: D) -> Raw<D> {
    Raw { driver, clock: Clock::system() }
}

impl<D: Driver> Cache for Raw<D> {
    #[inline]
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        let header = Header {
            version: self.clock.version(),
            fresh_until: Time::NEVER,
            dead_at: Time::NEVER,
            ..Header::default()
        };
        let record = Record::new(&header, &[], value);
        self.driver.set(key.as_bytes(), &record, When::Always, self.clock.now()).await?;
        Ok(())
    }

    #[inline]
    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.driver.get(key.as_bytes(), self.clock.now(), |entry| seen(entry.value())).await?)
    }
}

pub(super) fn memory(start: &Start) -> Result<Box<dyn Peer>> {
    here(start, raw(Memory::new(start.room)))
}
