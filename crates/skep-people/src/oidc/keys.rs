//! The keys of a provider, and the signatures that count: RS256 and ES256, and nothing else.
//!
//! The type of the key decides which algorithm it verifies. So `none` verifies nothing, and a public key is never taken
//! for the secret of an HMAC.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Verifier;
use serde::{Deserialize, Serialize};

use crate::signature::{p256_key, rsa_key, verify_rsa};

/// A JSON web key set (RFC 7517, 5).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeySet {
    keys: Vec<Key>,
}

/// A JSON web key. Of others than RSA and EC the type is all that is read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The header of a signed token (RFC 7515, 4).
#[derive(Debug, Deserialize)]
pub(super) struct Header {
    pub(super) alg: String,
    pub(super) kid: Option<String>,
    /// Extensions that a reader must understand. None are supported, so a token with any is refused.
    pub(super) crit: Option<serde_json::Value>,
}

impl KeySet {
    /// True if one of the keys that this header may mean made the signature.
    pub(super) fn verify(&self, header: &Header, message: &[u8], signature: &[u8]) -> bool {
        self.keys.iter().filter(|key| key.is_meant_by(header)).any(|key| key.verify(message, signature).is_some())
    }
}

impl Key {
    fn is_meant_by(&self, header: &Header) -> bool {
        let is_for = |own: &Option<String>, wanted: &str| own.as_deref().is_none_or(|own| own == wanted);
        self.algorithm() == Some(&*header.alg)
            && is_for(&self.alg, &header.alg)
            && is_for(&self.usage, "sig")
            && (header.kid.is_none() || header.kid == self.kid)
    }

    fn algorithm(&self) -> Option<&'static str> {
        match (&*self.kty, self.crv.as_deref()) {
            ("RSA", _) => Some("RS256"),
            ("EC", Some("P-256")) => Some("ES256"),
            _ => None,
        }
    }

    /// `Some` if this key made the signature.
    fn verify(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        match self.algorithm()? {
            "RS256" => self.verify_rsa(message, signature),
            _ => self.verify_p256(message, signature),
        }
    }

    fn verify_rsa(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let key = rsa_key(&decode(self.n.as_deref()?)?, &decode(self.e.as_deref()?)?)?;
        verify_rsa(key, message, signature)
    }

    fn verify_p256(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let key = p256_key(&decode(self.x.as_deref()?)?, &decode(self.y.as_deref()?)?)?;
        key.verify(message, &p256::ecdsa::Signature::from_slice(signature).ok()?).ok()
    }
}

pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
