//! Cookies (RFC 6265bis) with secure defaults.

mod pending;

use std::time::Duration;

use http::{HeaderValue, header};

pub use pending::{PendingCookies, left_by};

use crate::fields::{Fields, Value};

/// A cookie for a response. Defaults: `HttpOnly`, `SameSite=Lax`, `Path=/`, `Secure` over TLS, and no `Max-Age` (the
/// browser drops it when it closes).
///
/// ```
/// use std::time::Duration;
/// use skep::Cookie;
///
/// let cookie = Cookie::new("theme", "dark").max_age(Duration::from_hours(24)).http_only(false);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    name: String,
    value: String,
    path: String,
    max_age: Option<Duration>,
    http_only: bool,
}

impl Cookie {
    /// A cookie.
    ///
    /// # Panics
    /// If the name is not a token, or the value contains bytes that a cookie cannot hold (controls, space, `"`, `,`,
    /// `;`, `\` and all beyond ASCII): encode such a value first.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        assert!(!name.is_empty() && name.bytes().all(is_token), "{name:?} cannot be the name of a cookie");
        assert!(value.bytes().all(is_cookie_octet), "a cookie cannot hold the value of {name:?} unencoded");
        Self { name, value, path: "/".into(), max_age: None, http_only: true }
    }

    /// A cookie that deletes the one of this name.
    #[must_use]
    pub fn removal(name: impl Into<String>) -> Self {
        Self::new(name, "").max_age(Duration::ZERO)
    }

    /// `Max-Age`, in whole seconds. Without it the browser drops the cookie when it closes.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = Some(age);
        self
    }

    /// `Path`: the browser sends the cookie only for this path and what is below it. Default: `/`.
    ///
    /// # Panics
    /// If the path contains `;` or a control character, or the name begins with `__Host-` and the path is not `/`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        assert!(
            self.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';'),
            "{:?} is not a valid cookie path",
            self.path
        );
        assert!(self.path == "/" || !has_prefix(&self.name, HOST_PREFIX), "the path of {:?} can only be /", self.name);
        self
    }

    /// `HttpOnly`: scripts cannot read the cookie. Default: true.
    #[must_use]
    pub fn http_only(mut self, http_only: bool) -> Self {
        self.http_only = http_only;
        self
    }
}

extension! {
    /// What a framework does with a cookie.
    pub trait CookieExt for Cookie {
        /// The value of `Set-Cookie`.
        fn header_value(&self, secure: bool) -> HeaderValue {
            let mut text = format!("{}={}; Path={}; SameSite=Lax", self.name, self.value, self.path);
            if let Some(time) = self.max_age {
                text.push_str("; Max-Age=");
                text.push_str(&time.as_secs().to_string());
            }
            if self.http_only {
                text.push_str("; HttpOnly");
            }
            if secure {
                text.push_str("; Secure");
            }
            HeaderValue::try_from(text).expect("name, value and path are visible ASCII")
        }
    }
}

/// The value of the first cookie of this name.
pub fn find<'r>(headers: &'r Fields, name: &str) -> Option<&'r str> {
    if !headers.contains_key(header::COOKIE) {
        return None;
    }
    // Pair by pair: one that is no text is somebody else's, and hides none of ours.
    let fields = headers.get_all(header::COOKIE).map(Value::as_bytes);
    fields.flat_map(|field| field.split(|byte| *byte == b';')).find_map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.is_ascii())?;
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then(|| value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
    })
}

const HOST_PREFIX: &str = "__Host-";

fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix))
}

/// Whether browsers keep all of these, which are the fields `Set-Cookie` of a response (RFC 6265bis, 4.1.1, 4.1.3 and
/// 5.7). The error says which one they do not.
pub fn check<'f>(fields: impl Iterator<Item = &'f HeaderValue>) -> Result<(), String> {
    let mut names: Vec<&[u8]> = Vec::new();
    for field in fields {
        let mut parts = field.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let mut pair = parts.next().unwrap_or_default().splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
        let name = pair.next().unwrap_or_default();
        if names.contains(&name) {
            return Err(format!(
                "the response has two cookies {:?}: browsers keep one of them",
                name.escape_ascii().to_string()
            ));
        }
        names.push(name);
        if let Some(why) = refusal(name, parts) {
            return Err(format!("browsers do not keep the cookie {:?}: {why}", name.escape_ascii().to_string()));
        }
    }
    Ok(())
}

/// Why no browser keeps a cookie with this name and these attributes.
fn refusal<'f>(name: &[u8], attributes: impl Iterator<Item = &'f [u8]>) -> Option<&'static str> {
    let name = std::str::from_utf8(name).unwrap_or_default();
    let (mut is_secure, mut has_domain, mut path, mut same_site) = (false, false, &b""[..], &b""[..]);
    for attribute in attributes {
        let mut pair = attribute.splitn(2, |byte| *byte == b'=').map(<[u8]>::trim_ascii);
        let (key, value) = (pair.next().unwrap_or_default(), pair.next().unwrap_or_default());
        // The last one counts.
        match () {
            () if key.eq_ignore_ascii_case(b"secure") => is_secure = true,
            () if key.eq_ignore_ascii_case(b"domain") => has_domain = !value.is_empty(),
            () if key.eq_ignore_ascii_case(b"path") => path = value,
            () if key.eq_ignore_ascii_case(b"samesite") => same_site = value,
            () => {}
        }
    }
    let is_host = has_prefix(name, HOST_PREFIX);
    match () {
        () if is_host && path != b"/" => Some("one with __Host- has Path=/"),
        () if is_host && has_domain => Some("one with __Host- has no Domain"),
        () if !is_secure && (is_host || has_prefix(name, "__Secure-")) => {
            Some("its prefix asks for Secure, and so for TLS")
        }
        () if !is_secure && same_site.eq_ignore_ascii_case(b"none") => {
            Some("SameSite=None asks for Secure, and so for TLS")
        }
        () => None,
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)
}
