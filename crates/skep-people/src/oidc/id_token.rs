//! What is asked of an ID token (OpenID Connect Core 1.0, 3.1.3.7).

use serde::Deserialize;
use serde_json::Value;

use super::claims::Claims;
use super::keys::{Header, decode};

/// How far the clocks of provider and application may be apart, in seconds.
const SKEW: f64 = 60.0;

/// An ID token in its parts. Nothing of it is to be believed before its signature is verified.
pub(super) struct IdToken<'t> {
    pub(super) header: Header,
    /// What is signed: header and payload as they came.
    pub(super) message: &'t [u8],
    pub(super) signature: Vec<u8>,
    payload: Vec<u8>,
}

/// What a token must say.
pub(super) struct Expected<'p> {
    pub(super) issuer: &'p str,
    pub(super) client_id: &'p str,
    pub(super) nonce: &'p str,
    /// Seconds since 1970.
    pub(super) now: f64,
    /// How many seconds ago the user may have proved it to the provider, if that was asked for.
    pub(super) max_age: Option<u64>,
}

/// The claims about the token itself.
#[derive(Deserialize)]
struct Envelope {
    iss: String,
    sub: String,
    /// A text, or a list of them.
    aud: Value,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    /// When the user last proved it to the provider.
    auth_time: Option<f64>,
    nonce: Option<String>,
}

impl<'t> IdToken<'t> {
    /// The parts of a token, or what is wrong with it.
    pub(super) fn parse(text: &'t str) -> Result<Self, &'static str> {
        const MALFORMED: &str = "the ID token is no signed JSON web token";
        let (message, signature) = text.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, payload) = message.split_once('.').ok_or(MALFORMED)?;
        let (header, payload) = (decode(header).ok_or(MALFORMED)?, decode(payload).ok_or(MALFORMED)?);
        let header: Header = serde_json::from_slice(&header).map_err(|_| MALFORMED)?;
        if header.crit.is_some() {
            return Err("the ID token has an extension that must be understood");
        }
        if !matches!(&*header.alg, "RS256" | "ES256") {
            return Err("the ID token is signed by another algorithm than RS256 and ES256");
        }
        let signature = decode(signature).ok_or(MALFORMED)?;
        Ok(Self { header, message: message.as_bytes(), signature, payload })
    }

    /// The claims of a token whose signature is verified, or why they do not count.
    pub(super) fn claims(&self, expected: &Expected<'_>) -> Result<Claims, &'static str> {
        let unreadable = |_| "the ID token lacks a claim that it must have, or has one of another type";
        let envelope: Envelope = serde_json::from_slice(&self.payload).map_err(unreadable)?;
        envelope.check(expected)?;
        let said = serde_json::from_slice(&self.payload).map_err(unreadable)?;
        Ok(Claims::verified(said, envelope.proved(expected)))
    }
}

impl Envelope {
    fn check(&self, expected: &Expected<'_>) -> Result<(), &'static str> {
        let is_ours = |id: &str| id == expected.client_id;
        let (is_for_us, is_for_others) = match &self.aud {
            Value::String(id) => (is_ours(id), false),
            Value::Array(ids) => (ids.iter().any(|id| id.as_str().is_some_and(is_ours)), ids.len() > 1),
            _ => (false, false),
        };
        let rules = [
            (self.iss == expected.issuer, "`iss` of the ID token is another issuer"),
            (!self.sub.is_empty(), "`sub` of the ID token is empty"),
            (is_for_us, "`aud` of the ID token is another application"),
            (self.azp.as_deref().map_or(!is_for_others, is_ours), "`azp` of the ID token is another application"),
            (expected.now < self.exp + SKEW, "the ID token has expired"),
            (self.iat <= expected.now + SKEW, "`iat` of the ID token is in the future"),
            (self.nbf.is_none_or(|from| from <= expected.now + SKEW), "`nbf` of the ID token is in the future"),
            (self.auth_time.is_none_or(|at| at <= expected.now + SKEW), "`auth_time` of the ID token is in the future"),
            (self.nonce.as_deref() == Some(expected.nonce), "`nonce` of the ID token is that of another sign-in"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(problem))
    }

    /// When the user last proved it to the provider, in milliseconds since 1970. `None` if it does not say so, or did
    /// not ask again though that is longer ago than it should be (OpenID Connect Core 1.0, 3.1.2.1).
    fn proved(&self, expected: &Expected<'_>) -> Option<u64> {
        #[expect(clippy::cast_precision_loss, reason = "as with the clock")]
        let oldest = expected.max_age.map_or(0.0, |seconds| expected.now - seconds as f64 - SKEW);
        let at = self.auth_time.filter(|at| *at >= oldest)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and now")]
        Some((at.min(expected.now) * 1000.0) as u64)
    }
}
