//! Settings of a cache.

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
use crate::policy::EntryPolicy;
use crate::stats::Counters;
use crate::tags::Epochs;

use super::Cache;
use super::inner::Inner;

/// Spawns a future on the program's runtime.
pub(crate) type Spawner = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;

/// Settings for all entries of a cache.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(crate) stale: Duration,
    pub(crate) stale_if_error: Duration,
    pub(crate) retry: Duration,
    pub(crate) early: f64,
    pub(crate) soft_timeout: Option<Duration>,
    pub(crate) hard_timeout: Option<Duration>,
    pub(crate) lease: Duration,
    pub(crate) clock_skew: Duration,
    pub(crate) errors: bool,
    pub(crate) compress: Option<usize>,
    pub(crate) spawner: Option<Spawner>,
}

impl Rules {
    /// How long an entry is stored after it was fresh.
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
    policy: EntryPolicy,
    invalidation_lag: Duration,
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
            soft_timeout: None,
            hard_timeout: None,
            lease: Duration::from_secs(30),
            clock_skew: Duration::ZERO,
            errors: false,
            compress: None,
            spawner: None,
        };
        Self {
            namespace: namespace.to_owned(),
            schema: 0,
            codec: Postcard,
            clock: Clock::system(),
            policy: EntryPolicy::new(Duration::from_hours(1)).negative(Duration::from_mins(1)),
            invalidation_lag: Duration::from_secs(1),
            rules,
            types: PhantomData,
        }
    }
}

impl<K: ?Sized, V, C> Builder<K, V, C> {
    /// How long a value is fresh. Default: 1 h. [`Duration::MAX`] never expires.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.policy.ttl = ttl;
        self
    }

    /// The policy of entries that have none of their own.
    #[must_use]
    pub fn policy(mut self, policy: EntryPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// How long a negative entry is fresh. Default: 1 min.
    #[must_use]
    pub fn negative(mut self, negative: Duration) -> Self {
        self.policy.negative = negative;
        self
    }

    /// Shortens each TTL by a random part, at most this one (0 to 1). Default: 0. See [`EntryPolicy::jitter`].
    #[must_use]
    pub fn jitter(mut self, part: f64) -> Self {
        self.policy = self.policy.jitter(part);
        self
    }

    /// Expires entries that were not read for this long. Default: never. See [`EntryPolicy::idle`].
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.policy.idle = idle;
        self
    }

    /// Stale-while-revalidate: how long after its TTL a value is served while one caller computes. Default: 0.
    #[must_use]
    pub fn stale(mut self, stale: Duration) -> Self {
        self.rules.stale = stale;
        self
    }

    /// Stale-if-error: how long after its TTL a value is served if computing fails or takes too long. Default: 0.
    #[must_use]
    pub fn stale_if_error(mut self, stale: Duration) -> Self {
        self.rules.stale_if_error = stale;
        self
    }

    /// After such a failure, how long until the next attempt. Default: 5 s.
    #[must_use]
    pub fn retry(mut self, retry: Duration) -> Self {
        self.rules.retry = retry;
        self
    }

    /// How eagerly a value is refreshed before it expires, by one caller. Default: 1; 0 disables it.
    ///
    /// The caller is drawn at random, the more likely the longer the value took to compute and the nearer its end: `XFetch`, in
    /// Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB 2015.
    #[must_use]
    pub fn early(mut self, eagerness: f64) -> Self {
        self.rules.early = eagerness.max(0.0);
        self
    }

    /// How long a caller waits for a computation if there is a stale value. Default: no limit.
    #[must_use]
    pub fn soft_timeout(mut self, timeout: Duration) -> Self {
        self.rules.soft_timeout = Some(timeout);
        self
    }

    /// How long a computation may take. It is dropped then, and all waiting callers get an error that
    /// [is a timeout](crate::Error::is_timeout). Default: no limit.
    #[must_use]
    pub fn hard_timeout(mut self, timeout: Duration) -> Self {
        self.rules.hard_timeout = Some(timeout);
        self
    }

    /// How long other processes wait for a computation before they compute themselves. Default: 30 s; at least the hard timeout.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.rules.lease = lease;
        self
    }

    /// How long an invalidation by another process may go unnoticed, if the driver has no
    /// [generation](crate::Driver::generation). Default: 1 s.
    #[must_use]
    pub fn invalidation_lag(mut self, lag: Duration) -> Self {
        self.invalidation_lag = lag;
        self
    }

    /// How far the clocks of machines may differ. Invalidating a tag also invalidates what is stored within this time after it.
    /// Default: 0.
    #[must_use]
    pub fn clock_skew(mut self, skew: Duration) -> Self {
        self.rules.clock_skew = skew;
        self
    }

    /// The version of the value type: entries stored under another number are misses. Default: 0.
    #[must_use]
    pub fn schema(mut self, schema: u32) -> Self {
        self.schema = schema;
        self
    }

    /// The codec of the values. Default: [`Postcard`].
    #[must_use]
    pub fn codec<O>(self, codec: O) -> Builder<K, V, O> {
        Builder {
            codec,
            namespace: self.namespace,
            schema: self.schema,
            clock: self.clock,
            policy: self.policy,
            invalidation_lag: self.invalidation_lag,
            rules: self.rules,
            types: PhantomData,
        }
    }

    /// Compresses values of at least this many bytes with lz4, if that makes them smaller. Default: no compression.
    #[cfg(feature = "compress")]
    #[must_use]
    pub fn compress(mut self, threshold: usize) -> Self {
        self.rules.compress = Some(threshold);
        self
    }

    /// Makes a failure of the driver an error instead of a miss. It is counted and logged in either case.
    #[must_use]
    pub fn errors(mut self) -> Self {
        self.rules.errors = true;
        self
    }

    /// Spawns the computations of [`get_or_in_background`](Cache::get_or_in_background).
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

    /// The clock. Default: the system's; tests use a manual one.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Builds the cache.
    ///
    /// # Errors
    ///
    /// If the namespace is empty, longer than 64 bytes or has a zero byte in it.
    pub fn build<D: Driver>(mut self, driver: D) -> Result<Cache<K, V, D, C>> {
        let prefix = Prefix::new(&self.namespace, self.schema)?;
        self.rules.lease = self.rules.lease.max(self.rules.hard_timeout.unwrap_or_default());
        let epochs = Epochs::new(&self.namespace, self.invalidation_lag);
        let inner = Inner {
            driver,
            codec: self.codec,
            prefix,
            clock: self.clock,
            policy: self.policy,
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
        f.debug_struct("Builder")
            .field("namespace", &self.namespace)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
