//! Where a site can be reached.

use std::fmt;
use std::str::FromStr;

use http::Uri;
use skep_settings::{Kind, SettingValue, Value};

/// Scheme and host under which a site is reached from outside: `https://example.org`, perhaps with a port.
///
/// Behind a proxy that ends TLS, nothing in a request can be trusted to say it; so it is a setting (`base_url`).
///
/// ```
/// use skep::link::BaseUrl;
///
/// let base: BaseUrl = "https://Example.org:443/".parse()?;
/// assert_eq!(base.as_str(), "https://example.org");
///
/// let error = "example.org".parse::<BaseUrl>().unwrap_err();
/// assert_eq!(error.to_string(), "\"example.org\" is not the address of a site: write https://example.org");
/// # Ok::<(), skep::link::NotABaseUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

/// A text is no [`BaseUrl`]; says what would be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotABaseUrl(String);

impl BaseUrl {
    /// The text, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

skep_settings::from_text!(BaseUrl);

impl FromStr for BaseUrl {
    type Err = NotABaseUrl;

    fn from_str(text: &str) -> Result<Self, NotABaseUrl> {
        let wrong = |why: &str| NotABaseUrl(format!("{text:?} is not the address of a site: {why}"));
        // If only the scheme is missing, the message shows the given host with it.
        let host = text.trim_end_matches('/');
        let is_host =
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let whole = format!("write https://{}", if is_host { host } else { "example.org" });
        let uri: Uri = text.parse().map_err(|_| wrong(&whole))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(wrong(&whole)) };
        let default_port = match scheme {
            "https" => 443,
            "http" => 80,
            _ => return Err(wrong("it begins with https:// or http://")),
        };
        if authority.as_str().contains('@') {
            return Err(wrong("it names nobody and no password before the host"));
        }
        if uri.query().is_some() || text.contains('#') {
            return Err(wrong("it ends with the host or the port, and has no `?` and no `#`"));
        }
        if !matches!(uri.path(), "" | "/") {
            let help = "links know their paths while they compile; say \"{}\" there: `Prefix::new(\"{}\")`";
            return Err(wrong(&help.replace("{}", uri.path().trim_end_matches('/'))));
        }
        let host = authority.host().to_ascii_lowercase();
        Ok(Self(match authority.port_u16().filter(|port| *port != default_port) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl SettingValue for BaseUrl {
    const KIND: Kind = Kind::Other("scheme and host, such as https://example.org");

    fn from_value(value: &Value) -> Result<Self, String> {
        value.to_string().parse().map_err(|_| format!("expected {}", Self::KIND))
    }
}

skep_units::error_text!(NotABaseUrl, |wrong| wrong.0);
