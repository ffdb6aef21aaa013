//! The settings `otlp.*`.

use std::fmt;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};

/// The settings `otlp.*`. Each field is a setting of the same name.
#[expect(missing_docs, reason = "the table of settings has their help")]
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub endpoint: Endpoint,
    pub headers: Pairs,
    pub attributes: Pairs,
    pub timeout: Duration,
    pub interval: Duration,
    pub batch: usize,
    pub sample_one_in: u64,
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

impl Endpoint {
    /// Checks the URL.
    ///
    /// # Errors
    /// It is none, or this is built without the feature `otlp`.
    pub fn parse(url: Option<String>) -> Result<Self, String> {
        let Some(url) = url else { return Ok(Self(None)) };
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

impl Pairs {
    /// Names and values of header fields, as `NAME=VALUE`.
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(list: &[String]) -> Result<Self, String> {
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
