//! What becomes of the instance of a component after its request.
//!
//! A host of Skep makes a fresh copy of the initialised program for every request, unless its configuration says
//! otherwise. The program may say so itself: an instance that has asked to be kept answers further requests, and its
//! statics live on.
//!
//! Native, where all requests share one process, these functions do nothing.

use std::time::Duration;

skep_units::with_defaults! {
    /// How long an instance is kept.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::module::Reuse;
    ///
    /// let reuse = Reuse::default().requests(100).idle(Duration::from_secs(10));
    /// assert_eq!(reuse.requests, 100);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Reuse {
        /// The instance serves this many further requests, and ends (1000).
        pub requests: u32 = 1000,
        /// It ends when it had no request for this long (1 minute).
        pub idle: Duration = Duration::from_mins(1),
    }
}

impl Reuse {
    /// How many further requests it serves. Default: 1000.
    #[must_use]
    pub fn requests(mut self, requests: u32) -> Self {
        self.requests = requests;
        self
    }

    /// How long it waits for one. Default: 1 minute.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }
}

/// Asks the host to keep this instance for further requests, or, with `None`, to end it after this one. The last call
/// counts; the host's configuration may set bounds to it.
///
/// What is kept in statics and in [`App::state`](crate::App::state) is then seen by requests of other users: that is
/// what makes it fast, and what once logged people in as each other. What belongs to one user belongs into a
/// [`Session`](crate::session::Session).
///
/// ```
/// use skep::module::{self, Reuse};
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/dictionary/{word}")]
/// struct Word { word: String }
///
/// impl Handle for Word {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         module::cache(Some(Reuse::default().requests(100))); // the dictionary took long to read
///         Ok(Response::text(self.word))
///     }
/// }
/// # assert_eq!(skep::test::Client::new(App::new().serve(services![Word])).get("/dictionary/bee").text(), "bee");
/// ```
pub fn cache(reuse: Option<Reuse>) {
    #[cfg(target_family = "wasm")]
    {
        use crate::host::component::bindings::skep::host::module;
        match reuse {
            Some(Reuse { requests, idle }) => {
                module::keep(requests, u64::try_from(idle.as_millis()).unwrap_or(u64::MAX))
            }
            None => module::release(),
        }
    }
    #[cfg(not(target_family = "wasm"))]
    let _ = reuse;
}
