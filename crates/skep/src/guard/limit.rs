//! Rate limits: a guard like any other.
//!
//! The generic cell rate algorithm (GCRA): of each key one number is kept, the time at which it would have used up nothing. It needs no
//! window, refills evenly, and one atomic update decides, so that processes that share the cache share the limit exactly.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use http::{HeaderValue, StatusCode, header};

use super::Guard;
use crate::cache::Store;
use crate::cx::Cx;
use crate::error::Error;
use crate::response::Result;

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
/// let client = skep::test::Client::new(App::new().serve::<(Search,)>());
/// for _ in 0..3 {
///     assert_eq!(client.get("/search?words=bees").status(), 200);
/// }
/// let refused = client.get("/search?words=bees");
/// assert_eq!((refused.status().as_u16(), refused.header("retry-after")), (429, Some("10")));
/// ```
///
/// The counts are in the cache `skep-limits`. By default all threads share it, and with `mpm = "prefork"` all processes; several machines
/// need a tier that they share, and the limit is one for all: `[cache.skep-limits]`, `docs/guides/rate-limit.md`.
pub trait RateLimit: 'static {
    /// Tells limits apart. Guards of the same name share their counts.
    const NAME: &'static str;

    /// How often it may be done at once.
    const BURST: u32;

    /// How long it takes until it may be done once more.
    const EACH: Duration;

    /// Whose count it is; `None` has no limit. Default: the address of the client, which a [trusted proxy](crate::Cx::peer) may tell. For a
    /// user, return the id from the session; for the service as a whole, a constant.
    fn key(cx: &Cx<'_>) -> Option<String> {
        cx.peer().network().map(|network| format!("{network:x}"))
    }
}

/// A guard: refuses what is done too often with 429 and `Retry-After`. See [`RateLimit`].
pub struct Limited<L>(PhantomData<fn() -> L>);

impl<L: RateLimit> Guard for Limited<L> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        if let Some(key) = L::key(cx) {
            let pace = Pace { burst: L::BURST, each: L::EACH };
            spend(cx, &LIMITS, &format!("{}:{key}", L::NAME), pace).await?;
        }
        Ok(Self(PhantomData))
    }
}

impl<L> fmt::Debug for Limited<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Limited<{}>", type_name::<L>())
    }
}

/// The longest that a count is remembered: what takes longer to refill is full again after this.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);

/// The counts of [`Limited`].
const LIMITS: Store<str, u64> = Store::with("skep-limits", |store| store.ttl(LONGEST));

/// `burst` requests at once, and then one each time that `each` has passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) burst: u32,
    pub(crate) each: Duration,
}

impl Pace {
    /// When this key will have used up nothing after one more, in microseconds since 1970; or how long it has to wait.
    fn after_one_more(self, free_at: Option<u64>, now: u64) -> Result<u64, Duration> {
        let each = u64::try_from(self.each.as_micros()).unwrap_or(u64::MAX).max(1);
        let full = each.saturating_mul(u64::from(self.burst.max(1)));
        let then = free_at.unwrap_or(0).max(now).saturating_add(each);
        if then - now > full { Err(Duration::from_micros(then - now - full)) } else { Ok(then) }
    }
}

/// Counts one more for this key; 429 if that is too often.
pub(crate) async fn spend(cx: &Cx<'_>, counts: &Store<str, u64>, key: &str, pace: Pace) -> Result<()> {
    let now = cx.shared().resources().shared().setup.clock.now().millis().saturating_mul(1000);
    let mut verdict = Ok(0);
    let change = |free_at: Option<u64>| {
        verdict = pace.after_one_more(free_at, now);
        verdict.or(free_at.ok_or(Duration::ZERO)).unwrap_or(now)
    };
    cx.cache(counts).update(key, change).await?;
    verdict.map(drop).map_err(too_many)
}

fn too_many(wait: Duration) -> Error {
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    let wait = HeaderValue::try_from(seconds.to_string()).unwrap_or(HeaderValue::from_static("60"));
    Error::new(StatusCode::TOO_MANY_REQUESTS)
        .with_message("This was done too often. Please try again in a while.")
        .with_header(header::RETRY_AFTER, wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_refills_evenly() {
        let pace = Pace { burst: 3, each: Duration::from_secs(2) };
        let second = 1_000_000;
        let mut free_at = None;
        for _ in 0..3 {
            free_at = Some(pace.after_one_more(free_at, 100 * second).unwrap());
        }
        assert_eq!(pace.after_one_more(free_at, 100 * second), Err(Duration::from_secs(2)));
        assert_eq!(pace.after_one_more(free_at, 101 * second), Err(Duration::from_secs(1)));
        assert!(pace.after_one_more(free_at, 102 * second).is_ok());
        assert!(pace.after_one_more(Some(u64::MAX), 0).is_err() && pace.after_one_more(None, u64::MAX).is_ok());
    }
}
