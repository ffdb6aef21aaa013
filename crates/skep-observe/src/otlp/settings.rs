//! The settings `otlp.*`, and those `limits.*` of what waits to be sent.

use std::fmt;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use skep::Secret;
use skep_settings::{FromSetting, HOUR, MINUTE, SECOND, settings};

settings! {
    /// Where traces, metrics and logs are sent to, and which.
    #[derive(Clone, Debug)]
    pub struct Settings in "otlp" {
        /// Attributes of the resource in all traces, metrics and logs, such as
        /// `deployment.environment.name=production`. `service.name` and `service.version` are the application's unless
        /// they are set here.
        attributes: Pairs = List("NAME=VALUE"), "";
        /// Maximum number of spans, or of log lines, in one request to the receiver.
        batch: usize = Number(1..=10_000), 512;
        /// Send traces, metrics and the lines of the log output `otlp` to this receiver by OpenTelemetry's protocol
        /// (OTLP over HTTP, protobuf), such as `http://localhost:4318`. `/v1/traces`, `/v1/metrics` and `/v1/logs` are
        /// appended. Needs the cargo feature `otlp`. Empty means none.
        endpoint: Endpoint = Text, "";
        /// Header fields of requests to the receiver, such as `api-key=...`.
        headers: Secret<Pairs> = List("NAME=VALUE"), "";
        /// Time between two reports of metrics.
        interval: Duration = Duration(SECOND..=HOUR), 60 * SECOND;
        /// Trace one of this number of requests that bring no `traceparent`. 1 traces all of them, 0 none. A request
        /// that brings one is traced if its `sampled` flag is set.
        sample_one_in: u64 = Number(0..=1_000_000_000), 1;
        /// Timeout for a request to the receiver. At shutdown, the last spans and log lines are sent within 5 s at
        /// most.
        timeout: Duration = Duration(100..=MINUTE), 10 * SECOND;
        /// Log lines that wait to be sent to `otlp.endpoint`, of all processes together, up to 4 KiB each. More wait in
        /// `log.buffer` and `log.reserve` of their processes.
        log_records as "limits.log_records": usize = Number(16..=1_000_000), 2048;
        /// Spans that wait to be sent to `otlp.endpoint`, of all processes together, 1 KiB each. More are dropped and
        /// counted.
        spans as "limits.spans": usize = Number(16..=1_000_000), 8192;
    }
}

impl Settings {
    /// True if there is a receiver.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.endpoint.0.is_some()
    }
}

/// The URL of a receiver, without the path of a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint(pub(crate) Option<String>);

/// Names with values. Only the names are shown: values may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Pairs(pub(crate) Vec<(String, String)>);

impl FromSetting<str> for Endpoint {
    fn from_setting(url: &str) -> Result<Self, String> {
        if url.is_empty() {
            return Ok(Self(None));
        }
        if !cfg!(feature = "otlp") {
            return Err("it needs skep-server with the cargo feature `otlp`".to_owned());
        }
        let is_valid = url.parse::<Uri>().is_ok_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() && uri.query().is_none()
        });
        let expected = "expected the URL of a receiver of OTLP over HTTP, such as http://localhost:4318".to_owned();
        if is_valid { Ok(Self(Some(url.trim_end_matches('/').to_owned()))) } else { Err(expected) }
    }
}

impl FromSetting<[String]> for Pairs {
    fn from_setting(list: &[String]) -> Result<Self, String> {
        list.iter().map(|said| pair(said)).collect::<Result<_, _>>().map(Self)
    }
}

/// `NAME=VALUE`. Names and values of attributes are bound by the same rules as those of header fields, which they may
/// be sent as.
fn pair(said: &str) -> Result<(String, String), String> {
    let split = said.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let is_valid =
        |(name, value): &(&str, &str)| name.parse::<HeaderName>().is_ok() && value.parse::<HeaderValue>().is_ok();
    // Not what was found: it may be a secret.
    let (name, value) = split.filter(is_valid).ok_or("expected NAME=VALUE in each element, such as api-key=abc")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl fmt::Debug for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
