//! A request with its log: what all of its lines carry, and what is kept in case it fails.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use super::{LocalSite, Site};
use crate::security::masks::Masks;
use skep_http::ext::{RequestExt as _, RequestLogExt as _, ResponseExt as _};
use skep_http::log::{self, RequestLog, Trace, Whose};
use skep_http::request::{Parts, Received, Request};
use skep_http::response::{Response, Result};

impl Site {
    /// A token that raises the log level of the requests that bring it, in the header field `Skep-Log` or the cookie
    /// `skep-log`, to this level. Other requests are not affected.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().on_start(|site| {
    ///     let token = site.seal_log_level(tracing::Level::DEBUG, Duration::from_hours(1))?;
    ///     assert!(token.len() > 40); // curl -H "Skep-Log: $token" https://example.org/
    ///     Ok(())
    /// });
    /// # let _ = skep::test::Client::new(app);
    /// ```
    pub fn seal_log_level(&self, level: tracing::Level, lasts: Duration) -> Result<String> {
        self.resources.seal_level(level, lasts)
    }

    /// What logs must not show of addresses.
    #[doc(hidden)]
    #[must_use]
    pub fn masks(&self) -> &Masks {
        &self.resources.masks
    }
}

impl LocalSite {
    /// Handles a request. It never fails: an error becomes an error page, and a panic ends only its own request.
    #[inline]
    pub fn answer(&self, mut request: Request) -> impl Future<Output = Response> + use<> {
        let local = self.clone();
        // All work is inside, also what needs no waiting: the future is large, and what holds nothing yet is made where
        // it stays instead of being copied there. Nor is the request taken apart here: what a future takes apart, it
        // holds twice.
        async move {
            let Received { parts, id, peer, .. } = request.received();
            let id = id.unwrap_or_else(|| local.inner.ids.next());
            let of_address = peer.address.and_then(|address| log::level_for(Whose::Address(address.ip())));
            let Parts { method, uri, headers, extensions, .. } = &**parts;
            let raised = local.site().resources.raised_level(headers).max(of_address);
            let log = RequestLog::new(id.into(), headers, raised);
            let log = if local.site().in_development() { log.showing_lines() } else { log };
            let mut log = log
                .with_trace(extensions.get::<Trace>().copied())
                .with_span(method.as_str(), || local.site().masks().path(uri.path()));
            #[cfg(not(feature = "tower"))]
            let mut work = pin!(local.respond(&mut request, id));
            #[cfg(feature = "tower")]
            let mut work = pin!(local.respond_in_layers(&mut request, id));
            let mut response = poll_fn(|task| log.enter(|| work.as_mut().poll(task))).await;
            log.finish(response.status().is_server_error());
            if let Some(user) = log.shared_user() {
                response.set_user(user);
            }
            response
        }
    }

    /// An id for a request, for a server that logs it as well: [`Request::with_id`].
    #[doc(hidden)]
    #[must_use]
    pub fn next_id(&self) -> u64 {
        self.inner.ids.next().into()
    }
}
