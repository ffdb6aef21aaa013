//! The ids of sessions.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::security::keys;
use skep_http::error::Result;

/// An id has 192 random bits; 64 are what nobody guesses over a network (OWASP, Session Management Cheat Sheet).
const BYTES: usize = 24;

/// What a browser knows its session by. Nothing prints it but [`Id::to_text`], for the cookie.
pub(super) struct Id([u8; BYTES]);

/// What the store knows a session by: who reads it there cannot make the id of it.
pub(super) type Name = [u8; 32];

impl Id {
    /// Of a session that is its cookie. Nothing is found by it, so that it need not be drawn, which is a system call.
    pub(super) const OF_NO_STORE: Self = Self([0; BYTES]);

    pub(super) fn draw() -> Result<Self> {
        keys::random().map(Self)
    }

    /// The id in a cookie. Whether it was ever given out, the store knows.
    pub(super) fn parse(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    pub(super) fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Each application has its own: browsers send a cookie to all ports of a host, and stores can be shared.
    pub(super) fn name(&self, program: &str) -> Name {
        Sha256::new().chain_update(self.0).chain_update(program).finalize().into()
    }
}

/// The cookie of the session. Over TLS no other host, and nobody on the way, can set it (RFC 6265bis, 4.1.3.2).
pub(crate) fn cookie_name(tls: bool) -> &'static str {
    if tls { "__Host-skep-session" } else { "skep-session" }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Id(..)")
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/session_id.rs"]
mod tests;
