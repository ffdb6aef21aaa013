//! Settings of a cache. A builder only notes; `build` acts.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::codec::Postcard;
use crate::driver::Driver;
use crate::error::Result;
use crate::flight::Flights;
use crate::key::Prefix;
use crate::life::Life;
use crate::stats::Counters;
use crate::tags::Epochs;

use super::Cache;
use super::inner::Inner;

/// Runs a future to its end, on whatever runtime the program has.
pub(crate) type Spawner = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;

/// What holds for all entries of a cache.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(crate) stale: Duration,
    pub(crate) stale_if_error: Duration,
    pub(crate) retry: Duration,
    pub(crate) early: f64,
    pub(crate) soft: Option<Duration>,
    pub(crate) hard: Option<Duration>,
    pub(crate) lease: Duration,
    pub(crate) skew: Duration,
    pub(crate) errors: bool,
    pub(crate) compress: Option<usize>,
    pub(crate) spawner: Option<Spawner>,
}

impl Rules {
    /// How long an entry is kept after it was fresh.
    pub(crate) fn grace(&self) -> Duration {
        self.stale.max(self.stale_if_error)
    }
}

/// Settings of a [`Cache`]. See there for an example.
pub struct Builder<K: ?Sized, V, C = Postcard> {
    namespace: String,
    schema: u32,
    codec: C,
    clock: Clock,
    life: Life,
    lag: Duration,
    rules: Rules,
    types: PhantomData<fn(&K) -> V>,
}

impl<K: ?Sized, V> Builder<K, V> {
    pub(crate) fn new(namespace: &str) -> Self {
        let rules = Rules {
            stale: Duration::ZERO,
            stale_if_error: Duration::ZERO,
            retry: Duration::from_secs(5),
            early: 1.0,
            soft: None,
            hard: None,
            lease: Duration::from_secs(30),
            skew: Duration::ZERO,
            errors: false,
            compress: None,
            spawner: None,
        };
        Self {
            namespace: namespace.to_owned(),
            schema: 0,
            codec: Postcard,
            clock: Clock::system(),
            life: Life::of(Duration::from_hours(1)).negative(Duration::from_mins(1)),
            lag: Duration::from_secs(1),
            rules,
            types: PhantomData,
        }
    }
}

impl<K: ?Sized, V, C> Builder<K, V, C> {
    /// How long a value is fresh (an hour). [`Duration::MAX`] is for ever.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.life.ttl = ttl;
        self
    }

    /// How entries live that do not say otherwise: all of it at once.
    #[must_use]
    pub fn life(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// How long the answer "there is none" is fresh (a minute).
    #[must_use]
    pub fn negative(mut self, negative: Duration) -> Self {
        self.life.negative = negative;
        self
    }

    /// Shortens each life by a random part of it up to this one (0, none, to 1). See [`Life::jitter`].
    #[must_use]
    pub fn jitter(mut self, part: f64) -> Self {
        self.life = self.life.jitter(part);
        self
    }

    /// Ends what was not read for so long (not at all). See [`Life::idle`].
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.life.idle = idle;
        self
    }

    /// While one computes anew, how long after its end others get the old value (0).
    #[must_use]
    pub fn stale(mut self, stale: Duration) -> Self {
        self.rules.stale = stale;
        self
    }

    /// When computing anew fails or takes too long, how long after its end the old value is given (0).
    #[must_use]
    pub fn stale_if_error(mut self, stale: Duration) -> Self {
        self.rules.stale_if_error = stale;
        self
    }

    /// After such a failure, how long until it is tried again (5 s).
    #[must_use]
    pub fn retry(mut self, retry: Duration) -> Self {
        self.rules.retry = retry;
        self
    }

    /// How eagerly a value that is about to end is computed anew, by one caller ahead of the others (1; 0 is never).
    ///
    /// The caller is drawn by chance, the more likely the longer the value took to compute and the nearer its end: `XFetch`, in
    /// Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.
    #[must_use]
    pub fn early(mut self, eagerness: f64) -> Self {
        self.rules.early = eagerness.max(0.0);
        self
    }

    /// How long a caller waits for a computation if there is an old value to give instead (for ever).
    #[must_use]
    pub fn soft_limit(mut self, limit: Duration) -> Self {
        self.rules.soft = Some(limit);
        self
    }

    /// How long a computation may take (for ever). It is dropped then, and all who wait get an error that
    /// [is a timeout](crate::Error::is_timeout).
    #[must_use]
    pub fn hard_limit(mut self, limit: Duration) -> Self {
        self.rules.hard = Some(limit);
        self
    }

    /// How long other processes wait for a computation before they take over (30 s, and never less than the hard limit).
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.rules.lease = lease;
        self
    }

    /// Where the driver cannot tell that a tag was invalidated elsewhere, how long until it is seen (1 s).
    #[must_use]
    pub fn lag(mut self, lag: Duration) -> Self {
        self.lag = lag;
        self
    }

    /// How far clocks of different machines may be apart (0). Invalidating a tag also voids what is stored so long after it.
    #[must_use]
    pub fn skew(mut self, skew: Duration) -> Self {
        self.rules.skew = skew;
        self
    }

    /// Counts up when the type of the values changes: what was stored under another number is a miss (0).
    #[must_use]
    pub fn schema(mut self, schema: u32) -> Self {
        self.schema = schema;
        self
    }

    /// How values become bytes ([`Postcard`]).
    #[must_use]
    pub fn codec<O>(self, codec: O) -> Builder<K, V, O> {
        Builder {
            codec,
            namespace: self.namespace,
            schema: self.schema,
            clock: self.clock,
            life: self.life,
            lag: self.lag,
            rules: self.rules,
            types: PhantomData,
        }
    }

    /// Compresses values of at least so many bytes, with lz4, if that makes them smaller (never).
    #[cfg(feature = "compress")]
    #[must_use]
    pub fn compress(mut self, threshold: usize) -> Self {
        self.rules.compress = Some(threshold);
        self
    }

    /// Makes a driver's failure an error instead of a miss. It is counted and logged all the same.
    #[must_use]
    pub fn errors(mut self) -> Self {
        self.rules.errors = true;
        self
    }

    /// Where [`get_or_behind`](Cache::get_or_behind) computes.
    ///
    /// ```no_run
    /// use skep_cache::{Cache, Memory};
    ///
    /// let cache = Cache::<str, String>::builder("pages")
    ///     .spawner(|future| drop(tokio::spawn(future)))
    ///     .build(Memory::new(1 << 20))?;
    /// # Ok::<(), skep_cache::Error>(())
    /// ```
    #[must_use]
    pub fn spawner(mut self, spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static) -> Self {
        self.rules.spawner = Some(Arc::new(spawn));
        self
    }

    /// Where the time comes from (the system). Tests give a manual one.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The cache.
    ///
    /// # Errors
    ///
    /// If the namespace is empty, longer than 64 bytes or has a zero byte in it.
    pub fn build<D: Driver>(mut self, driver: D) -> Result<Cache<K, V, D, C>> {
        let prefix = Prefix::new(&self.namespace, self.schema)?;
        self.rules.lease = self.rules.lease.max(self.rules.hard.unwrap_or_default());
        let epochs = Epochs::new(&self.namespace, self.lag);
        let inner = Inner {
            driver,
            codec: self.codec,
            prefix,
            clock: self.clock,
            life: self.life,
            rules: self.rules,
            epochs,
            flights: Flights::default(),
            breaker: Breaker::default(),
            counters: Counters::default(),
        };
        Ok(Cache { inner: Arc::new(inner), types: PhantomData })
    }
}

impl<K: ?Sized, V, C> fmt::Debug for Builder<K, V, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("namespace", &self.namespace).field("life", &self.life).finish_non_exhaustive()
    }
}
