//! What failed: its page, and its line in the log.

use http::StatusCode;
use http::header::ACCEPT_LANGUAGE;
use http::request::Parts;

use super::Local;
use crate::error::Error;
use crate::error_page::{self, Failure};
use crate::log_limit::LogLimit;
use crate::panic;
use crate::request::{RequestId, header_text};
use crate::response::Response;
use crate::validation;

/// What is known of a request that failed.
#[derive(Default)]
pub(super) struct About<'a> {
    pub(super) parts: Option<&'a Parts>,
    /// The clients of the route read JSON.
    pub(super) speaks_json: bool,
    pub(super) user: Option<&'a str>,
    /// The one that was chosen for the request.
    pub(super) language: Option<&'static str>,
}

impl Local {
    pub(super) fn fail(&self, error: &Error, id: RequestId, about: &About<'_>) -> Response {
        log(error, id, about);
        let mut response = self.page(error, id, about);
        if error.is_ours() {
            response.set_cause(error.to_string());
        }
        response
    }

    pub(super) fn page(&self, error: &Error, id: RequestId, about: &About<'_>) -> Response {
        let site = self.site();
        let accepted = about.parts.and_then(|parts| header_text(&parts.headers, &ACCEPT_LANGUAGE));
        let accepted = || validation::choose_language(&site.resources.forms.languages, accepted).language;
        let language = about.language.unwrap_or_else(accepted);
        let failure = Failure::new(error, id, site.in_development()).for_reader(language, about.user);
        let in_json = about.parts.is_some_and(|parts| error_page::wants_json(&parts.headers, about.speaks_json));
        panic::catch(|| error_page::render(&failure, error, in_json, site.error_page)).unwrap_or_else(|panicked| {
            tracing::error!(target: "skep::request", %id, "the error page of the application {panicked}");
            error_page::render(&failure, error, in_json, error_page::default_page)
        })
    }
}

static UNAVAILABLE: LogLimit = LogLimit::new("requests answered with 503");

fn log(error: &Error, id: RequestId, about: &About<'_>) {
    let method = about.parts.map_or("-", |parts| parts.method.as_str());
    let path = about.parts.map_or("-", |parts| parts.uri.path());
    let user = about.user;
    if error.status() == StatusCode::SERVICE_UNAVAILABLE {
        // It is too much of something, and may be what somebody wants.
        UNAVAILABLE.log(|| tracing::error!(target: "skep::request", %id, method, path, user, "{error}"));
    } else if error.is_ours() {
        tracing::error!(target: "skep::request", %id, method, path, user, "{error}");
    } else {
        tracing::debug!(target: "skep::request", %id, method, path, user, "{error}");
    }
}
