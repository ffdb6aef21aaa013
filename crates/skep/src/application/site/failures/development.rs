//! What is known of a failure in development, for the page that a browser on the same machine gets.

use std::time::Duration;

use super::{About, LocalSite};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use skep_http::account::{Account, StatementTime};
use skep_http::development::{self, Report};
use skep_http::error::Error;
use skep_http::ext::ErrorExt as _;
use skep_http::log;
use skep_http::request::Parts;
use skep_http::response::Response;

/// From this number of runs on, a statement is probably in a loop.
const MANY: u32 = 10;

impl About<'_> {
    /// Whether its client may know why it failed.
    pub(super) fn is_local(&self) -> bool {
        self.parts.is_some_and(|parts| development::is_local(parts, self.peer))
    }
}

impl LocalSite {
    /// The page for a failure that is the server's fault; none for whom it is not meant.
    pub(super) fn development_page(&self, error: &Error, about: &About<'_>) -> Option<Response> {
        let is_meant = |parts: &&Parts| development::may_be_shown(parts, about.peer);
        let parts = about.parts.filter(|_| error.is_ours()).filter(is_meant)?;
        let account = about.account;
        let report = Report::new(error)
            .pairs("Request", self.request(parts, about))
            .lines("Session: its keys", error.session().unwrap_or_default().to_vec())
            .pairs("Statements", account.map(statements).unwrap_or_default())
            .pairs("Cache", account.map(cache).unwrap_or_default())
            .lines("Log", log::with_request(|request| request.map(log::RequestLog::shown)).unwrap_or_default())
            .pairs("Header fields", development::fields(&parts.headers, |address| self.masked(address)));
        let mut response = Response::html(report.page()).with_status(error.status());
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Some(response)
    }

    /// An address without what is secret by the type of its field, or by its name.
    fn masked(&self, address: &str) -> String {
        development::masked(&self.site().masks().address(address))
    }

    fn request(&self, parts: &Parts, about: &About<'_>) -> Vec<(String, String)> {
        let site = self.site();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let target = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let target = self.masked(target);
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut pairs = vec![pair("Path", &format!("{} {path}", parts.method))];
        let number = about.account.map_or(0, |account| usize::from(account.service));
        if let Some(route) = site.service_routes().get(number).filter(|route| !route.is_empty()) {
            pairs.push(pair("Service", &format!("{} ({route})", site.service_names()[number])));
        }
        pairs.extend(about.user.map(|user| pair("User", user)));
        pairs.extend(query.split('&').filter(|field| !field.is_empty()).map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            pair(&format!("?{name}"), value)
        }));
        pairs
    }
}

/// Each statement, with its time.
fn statements(account: &Account) -> Vec<(String, String)> {
    let line = |statement: &StatementTime| {
        let runs = match statement.runs {
            1 => String::new(),
            runs if runs < MANY => format!(" in {runs} runs"),
            runs => format!(" in {runs} runs: one statement for all of them?"),
        };
        (millis(statement.time) + &runs, statement.text.to_string())
    };
    account.by_statement.iter().map(line).collect()
}

fn cache(account: &Account) -> Vec<(String, String)> {
    match account.cache_reads {
        0 => Vec::new(),
        reads => vec![("Look-ups".to_owned(), format!("{reads}, {} in all", millis(account.cache)))],
    }
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
