//! What failed: its page, and its line in the log.

use std::borrow::Cow;

use http::StatusCode;
use http::header::SET_COOKIE;
use skep_units::panic;

#[cfg(not(target_family = "wasm"))]
mod development;

use super::LocalSite;
use super::headers::add_cookies;
use crate::context::resources::ThreadResources;
use crate::security::masks::Masks;
use crate::sql;
use skep_html::nonce;
use skep_http::account::Account;
use skep_http::cookie;
use skep_http::error::Error;
use skep_http::error_page::{self, Failure};
use skep_http::ext::{FailureExt as _, ResponseExt as _};
use skep_http::log::limit::LogLimit;
use skep_http::request::{Parts, Peer, RequestId};
use skep_http::response::Response;

/// What is known of a request that failed.
#[derive(Default)]
pub(super) struct About<'a> {
    pub(super) parts: Option<&'a Parts>,
    /// The clients of the route read JSON.
    pub(super) speaks_json: bool,
    pub(super) user: Option<&'a str>,
    /// The place of the one that was chosen for the request.
    pub(super) language: Option<usize>,
    #[cfg_attr(target_family = "wasm", expect(dead_code, reason = "a component has no such page"))]
    pub(super) peer: Peer,
    /// In development, what it has cost until then.
    #[cfg_attr(target_family = "wasm", expect(dead_code, reason = "a component has no such page"))]
    pub(super) account: Option<&'a Account>,
}

impl<'a> About<'a> {
    /// A request that was read, and perhaps handled for a while.
    pub(super) fn of_request(parts: &'a Parts, speaks_json: bool, resources: &'a ThreadResources) -> Self {
        Self {
            parts: Some(parts),
            speaks_json,
            user: resources.user(),
            language: resources.known_language(),
            ..Self::default()
        }
    }

    pub(super) fn with_account(self, peer: Peer, account: Option<&'a Account>) -> Self {
        Self { peer, account, ..self }
    }
}

impl LocalSite {
    /// The error page for a failure before routing, such as a malformed request line.
    #[must_use]
    pub fn failure(&self, error: &Error) -> Response {
        let mut nonce = nonce::Scope::default();
        let mut response = nonce.enter(|| self.fail(error, self.inner.ids.next(), &About::default()));
        self.site().resources.add_security_headers(&mut response, &nonce, Peer::default());
        response
    }

    /// Drops a request that [`answer`](Self::answer) has not answered yet, and makes its error page, with the cookies
    /// that its browser must get all the same, such as that of a session with a new id.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// # let mut setup = skep::Setup::default();
    /// # setup.temporary_database = true;
    /// let local = std::sync::Arc::new(App::new().open(setup).unwrap()).local();
    /// let (parts, ()) = http::Request::new(()).into_parts();
    /// let request = Box::pin(local.answer(skep::Request::new(parts, skep::Body::empty())));
    /// let error = Error::new(StatusCode::SERVICE_UNAVAILABLE).with_cause("it took too long");
    /// assert_eq!(local.abandon(|| drop(request), &error).status(), 503);
    /// ```
    #[must_use]
    pub fn abandon(&self, drop_request: impl FnOnce(), error: &Error) -> Response {
        let ((), cookies) = cookie::left_by(drop_request);
        let mut response = self.failure(error);
        add_cookies(&mut response, cookies);
        response
    }

    /// The error page in place of a response that cannot be sent, with the cookies of that.
    #[doc(hidden)]
    #[must_use]
    pub fn failure_instead_of(&self, response: &Response, error: &Error) -> Response {
        let mut failure = self.failure(error);
        add_cookies(&mut failure, response.headers().get_all(SET_COOKIE).iter().cloned().collect());
        failure
    }

    pub(super) fn fail(&self, error: &Error, id: RequestId, about: &About<'_>) -> Response {
        log(error, id, about, self.site().masks());
        let mut response = self.page(error, id, about);
        if error.is_ours() {
            response.set_cause(error.to_string());
        }
        response
    }

    pub(super) fn page(&self, error: &Error, id: RequestId, about: &About<'_>) -> Response {
        let site = self.site();
        let languages = &site.resources.forms.languages;
        let of_request = || about.parts.map(|parts| languages.of_request(parts).0);
        let messages = languages.at(about.language.or_else(of_request).unwrap_or_default());
        #[cfg(not(target_family = "wasm"))]
        let is_local = site.in_development() && about.is_local();
        // A component does not know what is before its host.
        #[cfg(target_family = "wasm")]
        let is_local = false;
        let failure = Failure::new(error, id, is_local).for_reader(error, messages, about.user);
        let in_json = about.parts.is_some_and(|parts| error_page::wants_json(&parts.headers, about.speaks_json));
        #[cfg(not(target_family = "wasm"))]
        if is_local && !in_json {
            match panic::catch(|| self.development_page(error, about)) {
                Ok(Some(page)) => return page,
                Ok(None) => {}
                Err(panicked) => tracing::error!(target: "skep::request", %id, "the page for development {panicked}"),
            }
        }
        panic::catch(|| error_page::render(&failure, error, in_json, site.error_page)).unwrap_or_else(|panicked| {
            tracing::error!(target: "skep::request", %id, "the error page of the application {panicked}");
            error_page::render(&failure, error, in_json, error_page::default_page)
        })
    }
}

static UNAVAILABLE: LogLimit = LogLimit::new("requests answered with 503");
static REFUSED: LogLimit = LogLimit::new("values that a database refused");

fn log(error: &Error, id: RequestId, about: &About<'_>, masks: &Masks) {
    let method = about.parts.map_or("-", |parts| parts.method.as_str());
    let path = &*about.parts.map_or(Cow::Borrowed("-"), |parts| masks.path(parts.uri.path()));
    let user = about.user;
    if error.status() == StatusCode::SERVICE_UNAVAILABLE {
        // It is too much of something, and may be what somebody wants.
        UNAVAILABLE.log(|| tracing::error!(target: "skep::request", %id, method, path, user, "{error}"));
    } else if error.is_ours() {
        tracing::error!(target: "skep::request", %id, method, path, user, "{error}");
    } else if error.cause().is_some_and(is_invalid_value) {
        // Nearly always the client's fault, but the value may be one of a stored row.
        REFUSED.log(|| tracing::warn!(target: "skep::request", %id, method, path, user, "{error}"));
    } else {
        tracing::debug!(target: "skep::request", %id, method, path, user, "{error}");
    }
}

fn is_invalid_value(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    cause.downcast_ref::<sql::Error>().is_some_and(sql::Error::is_invalid_value)
}
