//! Cookies (RFC 6265bis), with defaults that need a reason to be loosened.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};

/// A cookie to send: `HttpOnly`, `SameSite=Lax`, `Path=/`, `Secure` over TLS, and gone when the browser closes, unless said
/// otherwise.
///
/// ```
/// use std::time::Duration;
/// use skep::Cookie;
///
/// let cookie = Cookie::new("theme", "dark").lasting(Duration::from_secs(86_400)).readable_by_scripts();
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
    /// If the name is no token, or the value has bytes that a cookie cannot hold (controls, space, `"`, `,`, `;`, `\`
    /// and all beyond ASCII): encode such a value first.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        assert!(!name.is_empty() && name.bytes().all(is_token), "{name:?} cannot be the name of a cookie");
        assert!(value.bytes().all(is_cookie_octet), "a cookie cannot hold the value of {name:?} unencoded");
        Self { name, value, path: "/".into(), max_age: None, http_only: true }
    }

    /// The cookie that makes a browser forget the one of this name.
    #[must_use]
    pub fn removal(name: impl Into<String>) -> Self {
        Self::new(name, "").lasting(Duration::ZERO)
    }

    /// Kept for so long instead of until the browser closes; whole seconds.
    #[must_use]
    pub fn lasting(mut self, time: Duration) -> Self {
        self.max_age = Some(time);
        self
    }

    /// Sent only for addresses below `path`.
    ///
    /// # Panics
    /// If the path has a `;` or a control character.
    #[must_use]
    pub fn below(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        assert!(self.path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';'), "{:?} is no path", self.path);
        self
    }

    /// Visible to scripts on the page.
    #[must_use]
    pub fn readable_by_scripts(mut self) -> Self {
        self.http_only = false;
        self
    }

    pub(crate) fn header_value(&self, secure: bool) -> HeaderValue {
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

/// The value of the first cookie of this name.
pub(crate) fn find<'r>(headers: &'r HeaderMap, name: &str) -> Option<&'r str> {
    // Pair by pair: one that is no text is somebody else's, and hides none of ours.
    let fields = headers.get_all(header::COOKIE).into_iter().map(HeaderValue::as_bytes);
    fields.flat_map(|field| field.split(|byte| *byte == b';')).find_map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.is_ascii())?;
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then(|| value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value))
    })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_safe_ones() {
        let value = Cookie::new("a", "b").header_value(true);
        assert_eq!(value, "a=b; Path=/; SameSite=Lax; HttpOnly; Secure");
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("aa=1; a=\"2\";b=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("c=4"));
        assert_eq!(find(&headers, "a"), Some("2"));
        assert_eq!(find(&headers, "c"), Some("4"));
        assert_eq!(find(&headers, "d"), None);
    }

    #[test]
    fn a_foreign_cookie_that_is_no_text_hides_no_other() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_bytes(b"theme=d\xfcnkel; a=1; b=\xc3\xa9").unwrap());
        assert_eq!(find(&headers, "a"), Some("1"));
        assert_eq!(find(&headers, "theme"), None);
        assert_eq!(find(&headers, "b"), None);
    }

    #[test]
    #[should_panic(expected = "cannot hold the value")]
    fn a_value_cannot_smuggle_attributes() {
        let _ = Cookie::new("a", "b; Domain=evil");
    }
}
