//! The rules that decide where a message ends (RFC 9112, 6), and whether its connection goes on (9.3).
//!
//! Where a lenient parser and a strict one disagree on the end of a request, requests can be smuggled (RFC 9112, 11.2).
//! So what is doubtful is rejected.

use http::StatusCode;

use super::{Validated, bad_request, reject};
use crate::authority;

/// The length of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(u64),
    Chunked,
}

/// What the fields of a request say about its end, field by field.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field that was seen, or its value")]
pub(crate) struct Framing {
    /// HTTP/1.1, or else 1.0.
    pub(crate) version_11: bool,
    has_host: bool,
    /// `Host` is the one that was valid before.
    pub(crate) has_known_host: bool,
    has_close: bool,
    has_keep_alive: bool,
    has_upgrade: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
    chunked: bool,
    length: Option<u64>,
}

impl Framing {
    pub(crate) fn new(version_11: bool) -> Self {
        Self { version_11, ..Self::default() }
    }

    /// Notes a field, and rejects one that contradicts another. `known_host` is a host that was valid before, or empty.
    #[inline]
    pub(crate) fn note(&mut self, name: &[u8], value: &[u8], known_host: &[u8]) -> Validated {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        // Most names have another length.
        match name.len() {
            4 if is("host") => self.host(value, known_host),
            14 if is("content-length") => self.content_length(value),
            17 if is("transfer-encoding") => self.transfer_encoding(value),
            10 if is("connection") => {
                for option in value.split(|byte| *byte == b',') {
                    let option = option.trim_ascii();
                    self.has_close |= option.eq_ignore_ascii_case(b"close");
                    self.has_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                    self.has_upgrade |= option.eq_ignore_ascii_case(b"upgrade");
                }
                Ok(())
            }
            6 if is("expect") => {
                // HTTP/1.0 does not know it (RFC 9110, 10.1.1).
                let mut expected = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                self.expects_continue |=
                    self.version_11 && expected.any(|one| one.eq_ignore_ascii_case(b"100-continue"));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn host(&mut self, value: &[u8], known: &[u8]) -> Validated {
        if std::mem::replace(&mut self.has_host, true) {
            return Err(bad_request("there are two Host fields"));
        }
        // An absolute target has the host, and ignores this one (RFC 9112, 3.2.2).
        self.has_known_host = !value.is_empty() && value == known;
        let is_host = self.has_known_host || value.is_empty() || authority::is_valid(value);
        if is_host { Ok(()) } else { Err(bad_request("Host is not the name of a host")) }
    }

    fn content_length(&mut self, value: &[u8]) -> Validated {
        if self.length.is_some() {
            return Err(bad_request("there are two Content-Length fields"));
        }
        self.length = Some(decimal(value).ok_or(bad_request("Content-Length is not a number"))?);
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Validated {
        if !self.version_11 {
            return Err(bad_request("HTTP/1.0 has no Transfer-Encoding"));
        }
        if self.chunked {
            return Err(bad_request("there are two Transfer-Encoding fields"));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(reject(StatusCode::NOT_IMPLEMENTED, "the only Transfer-Encoding here is chunked"));
        }
        self.chunked = true;
        Ok(())
    }

    /// The length of the body, once all fields are noted (RFC 9112, 6.3).
    pub(crate) fn body(&self) -> Validated<BodyLength> {
        if self.version_11 && !self.has_host {
            return Err(bad_request("there is no Host field"));
        }
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(bad_request("there are both Content-Length and Transfer-Encoding")),
            (true, None) => Ok(BodyLength::Chunked),
            (false, length) => Ok(BodyLength::Known(length.unwrap_or(0))),
        }
    }

    /// True if the connection may become another protocol's, which HTTP/1.0 does not know (RFC 9110, 7.8).
    pub(crate) fn may_upgrade(&self) -> bool {
        self.version_11 && self.has_upgrade
    }

    /// True if another request may follow on the connection.
    pub(crate) fn keeps_alive(&self) -> bool {
        !self.has_close && (self.version_11 || self.has_keep_alive)
    }
}

/// The largest body that is believed: nobody sends an exbibyte, and sums of two do not overflow.
const MOST: u64 = 1 << 60;

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok().filter(|length| *length <= MOST)
}

#[cfg(test)]
#[path = "../../tests/unit/http1/framing.rs"]
mod tests;
