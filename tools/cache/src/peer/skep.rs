//! Our drivers, called directly and through `Cache`.

use std::time::Duration;

use skep_cache::driver::{Header, Record, When};
use skep_cache::{
    Cache as Typed, Clock, Driver, File, Memcached, Memory, Null, Raw as Bytes, Redis, Shared, Sqlite, Tiered,
};

use super::{Peer, Start, here};
use crate::Result;
use crate::load::{Cache, seen};

/// How long entries live: what [`Typed`] gives them if nobody says otherwise.
const LIFE: Duration = Duration::from_hours(1);

/// A driver as a program would call it without `Cache`: it asks for the time with each call, or would show what is
/// dead.
struct Raw<D> {
    driver: D,
    clock: Clock,
}

impl<D: Driver> Cache for Raw<D> {
    #[inline]
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        let (version, now) = (self.clock.version(), self.clock.now());
        // As long as the life that `Cache` gives: where the end is a column with an index, or a word of the request, it
        // costs something.
        let end = now.plus(LIFE);
        let header = Header { version, fresh_until: end, dead_at: end, ..Header::default() };
        let record = Record::new(&header, &[], value);
        self.driver.set(key.as_bytes(), &record, When::Always, now).await?;
        Ok(())
    }

    #[inline]
    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.driver.get(key.as_bytes(), self.clock.now(), |entry| seen(entry.value())).await?)
    }
}

/// A driver behind `Cache`, whose values are bytes: what the interface costs, and no codec.
struct Through<D> {
    cache: Typed<str, Vec<u8>, D, Bytes>,
    // Of the type that the cache takes: made when the load changes, and not for each store, which would cost it a copy
    // that the driver called directly is spared.
    value: Vec<u8>,
}

impl<D: Driver> Cache for Through<D> {
    #[inline]
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        if (self.value.len(), self.value.first()) != (value.len(), value.first()) {
            value.clone_into(&mut self.value);
        }
        self.cache.set(key, &self.value).await?;
        Ok(())
    }

    #[inline]
    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.cache.read(key, seen).await?)
    }
}

fn raw<D: Driver>(start: &Start, driver: D) -> Result<Box<dyn Peer>> {
    here(start, Raw { driver, clock: Clock::system() })
}

fn through<D: Driver>(start: &Start, driver: D) -> Result<Box<dyn Peer>> {
    let cache = Typed::<str, Vec<u8>>::builder("b").codec(Bytes).errors().build(driver)?;
    here(start, Through { cache, value: Vec::new() })
}

macro_rules! both {
    ($($direct:ident $cached:ident: $driver:expr;)*) => {$(
        pub(super) fn $direct(start: &Start) -> Result<Box<dyn Peer>> {
            let driver: fn(&Start) -> Result<_> = $driver;
            raw(start, driver(start)?)
        }

        pub(super) fn $cached(start: &Start) -> Result<Box<dyn Peer>> {
            let driver: fn(&Start) -> Result<_> = $driver;
            through(start, driver(start)?)
        }
    )*};
}

both! {
    null cached_null: |_| Ok(Null);
    memory cached_memory: |start| Ok(Memory::new(start.room));
    shared cached_shared: |start| Ok(Shared::at(start.memory.join("shared"), usize::try_from(start.room)?).open()?);
    file cached_file: |start| Ok(File::builder(start.folder.join("files")).max_bytes(start.room).open()?);
    sqlite cached_sqlite: |start| Ok(Sqlite::open(start.folder.join("cache.sqlite"))?);
    memcached_unix cached_memcached_unix: |start| memcached(start.memcached().display().to_string());
    memcached_tcp cached_memcached_tcp: |start| memcached(start.memcached_tcp.clone());
    redis_unix cached_redis_unix: |start| redis(start);
    tiers cached_tiers: |start| {
        Ok(Tiered::new(Memory::new(start.room), memcached(start.memcached().display().to_string())?))
    };
}

fn redis(start: &Start) -> Result<Redis> {
    Ok(Redis::builder(format!("unix://{}", start.redis().display())).build()?)
}

fn memcached(server: String) -> Result<Memcached> {
    Ok(Memcached::builder().server(server, 1).build()?)
}
