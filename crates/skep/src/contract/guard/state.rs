//! State of the application as a field of a service.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::{Guard, Need};
use crate::context::cx::Cx;
use skep_http::response::Result;

/// A value of the application as a field of a service, marked `#[state]`. An application that does not provide it with
/// [`App::state`](crate::App::state) does not start; [`Cx::state`](crate::Cx::state), which any code may call, can only
/// panic.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use skep::guard::State;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Visits { #[state] count: State<AtomicU64> }
///
/// impl Handle for Visits {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(self.count.fetch_add(1, Ordering::Relaxed).to_string()))
///     }
/// }
///
/// let without = App::new().serve(services![Visits]).open(skep::Setup::default());
/// assert!(without.unwrap_err().to_string().contains("needs a value of type `core::sync::atomic::Atomic"));
///
/// let client = skep::test::Client::new(App::new().serve(services![Visits]).state(AtomicU64::new(1)));
/// assert_eq!(client.get("/").text(), "1");
/// ```
pub struct State<T>(Arc<T>);

impl<T: Send + Sync + 'static> Guard for State<T> {
    const NEEDS: &'static [Need] = &[Need::state::<T>()];
    const ADMITS: bool = false;

    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        Ok(Self(cx.shared().resources().shared().shared_value()))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
