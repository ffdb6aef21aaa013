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
use crate::flight::SingleFlight;
use crate::key::Prefix;
use crate::policy::EntryPolicy;
use crate::setters::setters;
use crate::stats::Counters;
use crate::tags::Epochs;

use super::Cache;
use super::inner::Inner;

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
#[must_use]
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
    setters! {
        /// How long a value is fresh. Default: 1 h. [`Duration::MAX`] never expires.
        pub fn ttl(ttl: Duration) => policy.ttl = ttl;

        /// The policy of entries that have none of their own.
        pub fn policy(policy: EntryPolicy) => policy = policy;

        /// How long a negative entry is fresh. Default: 1 min.
        pub fn negative(negative: Duration) => policy.negative = negative;

        /// Shortens each TTL by a random part, at most this one (0 to 1). Default: 0. See [`EntryPolicy::jitter`].
        pub fn jitter(part: f64) => policy.jitter = part.clamp(0.0, 1.0);

        /// Expires entries that were not read for this long. Default: never. See [`EntryPolicy::idle`].
        pub fn idle(idle: Duration) => policy.idle = idle;

        /// Stale-while-revalidate: how long after its TTL a value is served while one caller computes. Default: 0.
        pub fn stale(stale: Duration) => rules.stale = stale;

        /// Stale-if-error: how long after its TTL a value is served if computing fails or takes too long. Default: 0.
        pub fn stale_if_error(stale: Duration) => rules.stale_if_error = stale;

        /// After such a failure, how long until the next attempt. Default: 5 s.
        pub fn retry(retry: Duration) => rules.retry = retry;

        /// How eagerly a value is refreshed before it expires, by one caller. Default: 1; 0 disables it.
        ///
        /// The caller is drawn at random, the more likely the longer the value took to compute and the nearer its end:
        /// `XFetch`, in Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB
        /// 2015.
        pub fn early(eagerness: f64) => rules.early = eagerness.max(0.0);

        /// How long a caller waits for a computation if there is a stale value. Default: no limit.
        pub fn soft_timeout(timeout: Duration) => rules.soft_timeout = Some(timeout);

        /// How long a computation may take. It is dropped then, and all waiting callers get an error that
        /// [is a timeout](crate::Error::is_timeout). Default: no limit.
        pub fn hard_timeout(timeout: Duration) => rules.hard_timeout = Some(timeout);

        /// How long other processes wait for a computation before they compute themselves. Default: 30 s; at least the
        /// hard timeout.
        pub fn lease(lease: Duration) => rules.lease = lease;

        /// How long an invalidation by another process may go unnoticed, if the driver has no
        /// [generation](crate::Driver::generation). Default: 1 s.
        pub fn invalidation_lag(lag: Duration) => invalidation_lag = lag;

        /// How far the clocks of machines may differ. Invalidating a tag also invalidates what is stored within this
        /// time after it. Default: 0.
        pub fn clock_skew(skew: Duration) => rules.clock_skew = skew;

        /// The version of the value type: entries stored under another number are misses. Default: 0.
        pub fn schema(schema: u32) => schema = schema;

        /// Compresses values of at least this many bytes with lz4, if that makes them smaller. Default: no compression.
        #[cfg(feature = "compress")]
        pub fn compress(threshold: usize) => rules.compress = Some(threshold);

        /// Makes a failure of the driver an error instead of a miss. It is counted and logged in either case.
        pub fn errors() => rules.errors = true;

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
        pub fn spawner(spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static)
            => rules.spawner = Some(Arc::new(spawn));

        /// The clock. Default: the system's; tests use a manual one.
        pub fn clock(clock: Clock) => clock = clock;
    }

    /// The codec of the values. Default: [`Postcard`].
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
            clock: self.clock.of_one_cache(),
            policy: self.policy,
            rules: self.rules,
            epochs,
            single_flight: SingleFlight::default(),
            breaker: Breaker::default(),
            counters: Counters::default(),
        };
        Ok(Cache { inner: Arc::new(inner), types: PhantomData })
    }
}

impl<K: ?Sized, V, C> fmt::Debug for Builder<K, V, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, policy, .. } = self;
        f.debug_struct("Builder").field("namespace", namespace).field("policy", policy).finish_non_exhaustive()
    }
}
