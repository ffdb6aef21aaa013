//! Under which names the application is reached, whom it trusts, and what its pages may do in a browser.

use http::Method;

use super::App;
use crate::application::endpoint::Endpoint;
use crate::contract::cors::Cors;
use crate::link::BaseUrl;
use crate::routing::router::{Entry, QueryRequirement};
use skep_http::ext::SecurityHeadersExt as _;
use skep_http::response::security_headers::{Compiled, REPORTS, SecurityHeaders};

impl App {
    /// Lets pages of another site (`https://partner.example`) send forms to this one.
    #[must_use]
    pub fn trust_origin(mut self, origin: impl Into<String>) -> Self {
        self.trusted_origins.push(origin.into());
        self
    }

    /// The prefix of absolute URLs (mails, feeds, `Location`), such as `https://example.org`. The setting `base_url`
    /// overrides it: [`Cx::absolute`](crate::cache::SharedCx::absolute), an example is there.
    #[must_use]
    pub fn base_url(mut self, url: &str) -> Self {
        match url.parse() {
            Ok(url) => self.base_url = Some(url),
            Err(error) => self.problems.push(format!("App::base_url: {error}")),
        }
        self
    }

    /// What [`base_url`](Self::base_url) said, for `--check --deploy`.
    #[doc(hidden)]
    #[must_use]
    pub fn own_base_url(&self) -> Option<&BaseUrl> {
        self.base_url.as_ref()
    }

    /// Adds hosts that the site has besides that of its [base URL](Self::base_url), in lower case and without ports:
    /// `example.org`, or `*.example.org` for all below it. The setting `hosts` replaces them.
    #[must_use]
    pub fn hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Lets pages of other origins call what is below the prefix and read the responses: services, folders and what is
    /// mounted. Of several prefixes, the longest one counts. An example is at [`Cors`].
    #[must_use]
    pub fn cors<O>(mut self, prefix: &str, cors: Cors<O>) -> Self {
        let rules = cors.into_rules();
        self.problems.extend(rules.problems());
        self.cors.add(prefix, rules);
        self
    }

    /// Replaces the header fields that tell browsers what pages may do. An example is at [`SecurityHeaders`].
    #[must_use]
    pub fn security_headers(mut self, headers: SecurityHeaders) -> Self {
        self.security_headers = headers;
        self
    }

    /// The fields as they are sent; mounts what takes reports.
    pub(super) fn compile_security_headers(&mut self) -> Option<Compiled> {
        if self.security_headers.reports_here() {
            self.services.push(Entry {
                name: "SecurityHeaders::report_to".to_owned(),
                method: Method::POST,
                pattern: REPORTS.to_owned(),
                requirement: QueryRequirement::default(),
                id: None,
                endpoint: Endpoint::of_violations(),
            });
        }
        self.security_headers.compile().map_err(|problem| self.problems.push(problem)).ok()
    }
}
