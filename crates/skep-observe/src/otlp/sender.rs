//! Requests to the receiver.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use ureq::Agent;
use ureq::http::header::RETRY_AFTER;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// The longest response that is read, in bytes.
const LONGEST_RESPONSE: u64 = 64 << 10;

/// What became of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It arrived; some of it was rejected.
    Taken { rejected: u64 },
    /// It will never be taken.
    Refused(String),
    /// It may be taken later, perhaps after a time that the receiver said.
    Failed { why: String, after: Option<Duration> },
}

pub(super) struct Sender {
    agent: Agent,
    endpoint: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

impl Sender {
    /// For a receiver by its URL. No connection is opened.
    pub(super) fn new(endpoint: &str, headers: &[(String, String)], timeout: Duration) -> Self {
        // A redirect could lead the header fields, which are secret, elsewhere.
        let mut config = Agent::config_builder().http_status_as_error(false).max_redirects(0).user_agent("skep");
        if endpoint.starts_with("https:") {
            config = config.tls_config(TlsConfig::builder().root_certs(root_certificates()).build());
        }
        let agent = config.build().new_agent();
        Self { agent, endpoint: endpoint.to_owned(), headers: headers.to_vec(), timeout }
    }

    /// Sends the message of a signal to its path. `time`: how long that may take at most.
    pub(super) fn send(&self, path: &str, message: &impl Message, time: Option<Duration>) -> Outcome {
        let (body, timeout) = (message.encode_to_vec(), time.map_or(self.timeout, |time| time.min(self.timeout)));
        let mut request = self.agent.post(format!("{}{path}", self.endpoint));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.content_type("application/x-protobuf");
        let response = request.config().timeout_global(Some(timeout)).build().send(&body[..]);
        let mut response = match response {
            Ok(response) => response,
            Err(error) => return Outcome::Failed { why: error.to_string(), after: None },
        };
        let status = response.status();
        if status.is_success() {
            let body = response.body_mut().with_config().limit(LONGEST_RESPONSE).read_to_vec().unwrap_or_default();
            // All signals respond alike; with an empty message, all is taken.
            let partial = ExportTraceServiceResponse::decode(&body[..]).unwrap_or_default().partial_success;
            let rejected = partial.map_or(0, |partial| partial.rejected_spans);
            return Outcome::Taken { rejected: u64::try_from(rejected).unwrap_or(0) };
        }
        // Those that the specification of OTLP calls retryable.
        if matches!(status.as_u16(), 429 | 502..=504) {
            let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            return Outcome::Failed { why: status.to_string(), after: after.map(Duration::from_secs) };
        }
        Outcome::Refused(status.to_string())
    }
}

/// Those of the system, so that a receiver may have a certificate of one's own authority.
fn root_certificates() -> RootCerts {
    let found = skep_units::system_roots("otlp.endpoint");
    let certificates = found.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
    RootCerts::Specific(Arc::new(certificates.collect()))
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
