//! What the application shares, for code that is not the application's own: crates over this one.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::Cx;
use crate::context::cache::Clock;
use crate::security::keys::AppKeys;
use skep_http::error::Result;

impl<'r> Cx<'r> {
    /// The value of this type that was given to [`App::state`](crate::App::state), if one was: for what an application
    /// may leave out.
    ///
    /// ```
    /// struct Greeting(&'static str);
    ///
    /// fn greeting(cx: &skep::Cx<'_>) -> &'static str {
    ///     cx.find_state::<Greeting>().map_or("hello", |greeting| greeting.0)
    /// }
    /// ```
    #[must_use]
    pub fn find_state<T: Send + Sync + 'static>(&self) -> Option<&'r T> {
        self.shared.resources().shared().find_value()
    }

    /// The value of this type that all requests of the process share, made by its `Default` for the first who asks: for
    /// a crate that an application need not give anything. Nothing of one user belongs in it.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// #[derive(Default)]
    /// struct Tried(AtomicU64);
    ///
    /// fn note(cx: &skep::Cx<'_>) -> u64 {
    ///     cx.state_or_default::<Tried>().0.fetch_add(1, Ordering::Relaxed)
    /// }
    /// ```
    #[must_use]
    pub fn state_or_default<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.shared.resources().shared().value_or_default()
    }

    /// The clock of the application, which tests move.
    ///
    /// ```
    /// fn millis(cx: &skep::Cx<'_>) -> u64 { cx.clock().now().millis() }
    /// ```
    #[must_use]
    pub fn clock(&self) -> &'r Clock {
        &self.shared.resources().shared().setup.clock
    }

    /// The moment, from the clock that tests move. With the feature `jiff`.
    ///
    /// ```
    /// fn year(cx: &skep::Cx<'_>) -> i16 { cx.now().to_zoned(jiff::tz::TimeZone::UTC).year() }
    /// ```
    #[cfg(feature = "jiff")]
    #[must_use]
    pub fn now(&self) -> jiff::Timestamp {
        let millis = i64::try_from(self.clock().now().millis()).unwrap_or(i64::MAX);
        jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX)
    }

    /// The application's keys. For a value that expires, [`seal`](Self::seal) is shorter; an example is at [`AppKeys`].
    #[must_use]
    pub fn keys(&self) -> &'r AppKeys {
        self.secret()
    }

    /// The path of the request as logs show it: `***` stands for what is secret in it.
    ///
    /// ```
    /// fn note(cx: &skep::Cx<'_>) { println!("tried at {}", cx.masked_path()); }
    /// ```
    #[must_use]
    pub fn masked_path(&self) -> Cow<'r, str> {
        self.shared.resources().shared().masks.path(self.uri().path())
    }

    /// True if something in this address of the site, with or without its query, is secret: a log would mask it.
    #[doc(hidden)]
    #[must_use]
    pub fn has_secret(&self, address: &str) -> bool {
        self.shared.resources().shared().masks.address(address) != address
    }

    /// False if only the client says where this site is, by its `Host`, which anybody can write: no link may go into a
    /// mail then. True in development and in tests.
    ///
    /// ```
    /// # use skep::{Cx, Error};
    /// fn check(cx: &Cx<'_>) -> skep::Result<()> {
    ///     if cx.knows_origin() { Ok(()) } else { Err(Error::internal("set `base_url`")) }
    /// }
    /// ```
    #[must_use]
    pub fn knows_origin(&self) -> bool {
        let shared = self.shared.resources().shared();
        shared.base_url.is_some() || shared.setup.development || shared.setup.temporary_database
    }

    /// True for the first who does this within this time, on all processes and over restarts: for what must not be done
    /// twice, such as taking a code. It is noted beside the sessions, by a digest of `act`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/redeem/{code}")]
    /// struct Redeem { code: String }
    ///
    /// impl Handle for Redeem {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let is_first = cx.is_first(&format!("redeem:{}", self.code), Duration::from_hours(24)).await?;
    ///         Ok(Response::text(if is_first { "done" } else { "it was used" }))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Redeem]));
    /// assert_eq!(client.post("/redeem/7", &[]).text(), "done");
    /// assert_eq!(client.post("/redeem/7", &[]).text(), "it was used");
    /// ```
    pub async fn is_first(&self, act: &str, lasts: Duration) -> Result<bool> {
        self.shared.resources().shared().sessions.is_first(act, lasts).await
    }
}
