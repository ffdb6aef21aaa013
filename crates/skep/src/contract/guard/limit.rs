//! Rate limits: a guard like any other.
//!
//! The generic cell rate algorithm (GCRA): of each key one number is kept, the time at which it would have used up
//! nothing. It needs no window, refills evenly, and one atomic update decides, so that all who share the counters share
//! the limit exactly. They are in the application's [table](crate::security::rate), unless a cache is configured for
//! them.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use skep_cache::{Change, Pace};

use super::Guard;
use crate::context::cache::Store;
use crate::context::cx::Cx;
use crate::context::resources::Resources;
use crate::security::rate::Allowed;
use skep_http::error::Error;
use skep_http::ext::SubnetExt as _;
use skep_http::request::subnet::{subnets, widest};
use skep_http::response::Result;

/// How often something may be done, for [`Limited`].
///
/// ```
/// use std::time::Duration;
/// use skep::guard::{Limited, RateLimit};
/// use skep::prelude::*;
///
/// /// Three searches, and then one every ten seconds, for each address.
/// struct Searches;
///
/// impl RateLimit for Searches {
///     const NAME: &'static str = "searches";
///     const BURST: u32 = 3;
///     const EACH: Duration = Duration::from_secs(10);
/// #   fn key(_cx: &Cx<'_>) -> Option<String> { Some("everybody".into()) }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/search")]
/// struct Search { words: String, #[guard] limit: Limited<Searches> }
///
/// impl Handle for Search {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(self.words)) }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Search]));
/// for _ in 0..3 {
///     assert_eq!(client.get("/search?words=bees").status(), 200);
/// }
/// let refused = client.get("/search?words=bees");
/// assert_eq!((refused.status().as_u16(), refused.header("retry-after")), (429, Some("10")));
/// ```
///
/// All threads share the counts, and with `mpm = "prefork"` all processes; several machines need a tier that they
/// share, and the limit is one for all: `[cache.skep-limits]`, `docs/guides/people/rate-limit.md`.
pub trait RateLimit: 'static {
    /// Tells limits apart. Guards of the same name share their counts.
    const NAME: &'static str;

    /// How often it may be done at once.
    const BURST: u32;

    /// How long it takes until it may be done once more.
    const EACH: Duration;

    /// Whose count it is; `None` has no limit. Default: the address of the client, which a [trusted
    /// proxy](crate::Cx::peer) may tell: of IPv6 its /64, and the /56 and /48 around that have 4 and 32 times the
    /// limit. For a user, return the id from the session; for the service as a whole, a constant.
    fn key(cx: &Cx<'_>) -> Option<String> {
        cx.peer().network().map(|network| format!("{network:x}"))
    }
}

/// A guard: refuses what is done too often with 429 and `Retry-After`. See [`RateLimit`].
pub struct Limited<L>(PhantomData<fn() -> L>);

impl<L: RateLimit> Guard for Limited<L> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        if let Some(key) = L::key(cx).filter(|_| !cx.is_repeated()) {
            let pace = Pace { burst: L::BURST, each: L::EACH };
            let is_address = cx.peer().network().is_some_and(|network| key == format!("{network:x}"));
            // Of IPv4, a /24 may be many customers of whom each pays for requests.
            let around =
                subnets(cx.peer()).filter(|network| is_address && network.is_in_version_6() && network.share() > 1);
            let around = around.map(|network| (format!("{}:{network}", L::NAME), pace.times(network.share())));
            let all: Vec<_> = around.chain([(format!("{}:{key}", L::NAME), pace)]).collect();
            LIMITS.spend(cx, &all).await?.map_err(too_many)?;
        }
        Ok(Self(PhantomData))
    }
}

impl<L> fmt::Debug for Limited<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limited<{}>", type_name::<L>())
    }
}

/// The longest that a cache remembers a count: what takes longer to refill is full again after this.
const LONGEST: Duration = Duration::from_hours(24);

/// The counts of [`Limited`].
static LIMITS: Counters = Counters::new("skep-limits");

/// What may be configured on tiers of its own: of accounts, too (`skep-people`).
#[cfg(not(target_family = "wasm"))]
static CONFIGURABLE: [Counters; 3] =
    [Counters::new("skep-limits"), Counters::new("skep-sign-in"), Counters::new("skep-mails")];

/// Counters of one kind, for guards and functions that [`RateLimit`] does not fit: several counts decide together, and
/// an attempt may turn out not to count.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::Pace;
/// use skep::guard::{Counters, too_many};
/// use skep::prelude::*;
///
/// static TRIES: Counters = Counters::new("shop-vouchers");
///
/// async fn redeem(cx: &Cx<'_>, voucher: &str) -> Result<()> {
///     let day = Pace { burst: 20, each: Duration::from_hours(1) };
///     // The widest one first: what it refuses stores nothing.
///     let mut counts: Vec<_> =
///         cx.peer().subnets().map(|subnet| (format!("at:{subnet}"), day.times(subnet.share()))).collect();
///     counts.push((format!("of:{voucher}"), Pace { burst: 3, each: Duration::from_mins(1) }));
///     TRIES.spend(cx, &counts).await?.map_err(too_many)
/// }
/// ```
///
/// They are in the application's table (`limits.counters`), as those of [`RateLimit`] are.
pub struct Counters(Store<str, u64>);

skep_units::opaque_debug!(Counters);

/// A counter and its pace.
pub type Count = (String, Pace);

impl Counters {
    /// Counters under this name, which is the crate's or the application's own. An example is at [`Counters`].
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(Store::with(name, |store| store.ttl(LONGEST)))
    }

    /// Counts one more of each, or of none; then how long that has to wait. Put the widest counter first: what it
    /// refuses stores nothing. An example is at [`Counters`].
    pub async fn spend(&'static self, cx: &Cx<'_>, counts: &[Count]) -> Result<Allowed> {
        for (at, (key, pace)) in counts.iter().enumerate() {
            if let Err(wait) = self.count(cx, key, Change::Add(*pace)).await? {
                self.give_back(cx, &counts[..at]).await?;
                return Ok(Err(wait));
            }
        }
        Ok(Ok(()))
    }

    /// Counts one less of each: it was no attempt. An example of counts is at [`Counters`].
    pub async fn give_back(&'static self, cx: &Cx<'_>, counts: &[Count]) -> Result<()> {
        for (key, pace) in counts {
            let _ = self.count(cx, key, Change::GiveBack(*pace)).await?;
        }
        Ok(())
    }

    /// Forgets what was counted of a key. An example of keys is at [`Counters`].
    pub async fn clear(&'static self, cx: &Cx<'_>, key: &str) -> Result<()> {
        self.count(cx, key, Change::Clear).await.map(drop)
    }

    async fn count(&'static self, cx: &Cx<'_>, key: &str, change: Change) -> Result<Allowed> {
        let shared = cx.shared().resources().shared();
        let store = &self.0;
        if shared.caches.is_configured(store.name()) {
            return count_in_cache(shared, store, key, change).await;
        }
        Ok(shared.counters.change(store.name(), key, change, widest(cx.peer()))?)
    }
}

/// On tiers that several machines may share, whose clocks are those of the wall.
async fn count_in_cache(
    shared: &Resources,
    store: &'static Store<str, u64>,
    key: &str,
    change: Change,
) -> Result<Allowed> {
    let cache = shared.caches.of(store)?;
    let now = shared.setup.clock.now().millis().saturating_mul(1000);
    let mut allowed = Ok(());
    match change {
        Change::Add(pace) => {
            let add = |free_at: Option<u64>| {
                let free_at = free_at.unwrap_or(now);
                let then = pace.after_one_more(free_at, now);
                allowed = then.map(drop);
                then.unwrap_or(free_at)
            };
            cache.update(key, add).await?;
        }
        Change::GiveBack(pace) => {
            cache.update(key, |free_at| free_at.map_or(now, |free_at| pace.before_last(free_at))).await?;
        }
        Change::Clear => drop(cache.remove(key).await?),
    }
    Ok(allowed)
}

/// Counts for the instance of a component, whose keys begin with what is the application's own.
#[cfg(not(target_family = "wasm"))]
pub(crate) async fn count_hosted(
    shared: &Resources,
    place: &str,
    key: &str,
    change: Change,
    network: &[u8],
) -> Result<Allowed> {
    match CONFIGURABLE
        .iter()
        .map(|counters| &counters.0)
        .find(|store| store.name() == place && shared.caches.is_configured(place))
    {
        Some(store) => count_in_cache(shared, store, key, change).await,
        None => Ok(shared.counters.change_hosted(place, key, change, network)),
    }
}

/// The response to what was done too often: 429 with `Retry-After`. An example is at [`Counters`].
#[must_use]
pub fn too_many(wait: Duration) -> Error {
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    let wait = HeaderValue::try_from(seconds.to_string()).unwrap_or(HeaderValue::from_static("60"));
    Error::new(StatusCode::TOO_MANY_REQUESTS).with_header(header::RETRY_AFTER, wait)
}
