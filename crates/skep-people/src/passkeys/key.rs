//! The public key of a passkey: ES256, `EdDSA` with Ed25519 and RS256, and nothing else, as COSE writes them (RFC 9052,
//! 7; RFC 9053, 7).

use ciborium::Value;
use p256::ecdsa::signature::Verifier;

use crate::signature::{p256_key, rsa_key, verify_rsa};

/// The algorithms that browsers are asked for, the best first (RFC 9053, 2.1 and 2.2; RFC 8812, 2).
pub(super) const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// Deeper than what authenticators send.
const DEPTH: usize = 16;

// Labels of a COSE key.
const KTY: i64 = 1;
const ALG: i64 = 3;
const CRV: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
const RSA_N: i64 = -1;
const RSA_E: i64 = -2;

pub(super) enum PublicKey {
    P256(p256::ecdsa::VerifyingKey),
    Ed25519(ed25519_dalek::VerifyingKey),
    Rsa(rsa::PublicKey),
}

impl PublicKey {
    /// The key that these bytes are, to the last of them.
    pub(super) fn parse(mut bytes: &[u8]) -> Option<Self> {
        let Value::Map(map) = take(&mut bytes)? else { return None };
        let number = |label| find(&map, label).and_then(Value::as_integer).and_then(|value| i64::try_from(value).ok());
        let text = |label| find(&map, label).and_then(Value::as_bytes);
        if !bytes.is_empty() {
            return None;
        }
        // Type, algorithm and curve must fit: a key is for one algorithm (Web Authentication, 5.8.5).
        match (number(KTY)?, number(ALG)?, number(CRV)) {
            (2, ES256, Some(1)) => p256_key(text(X)?, text(Y)?).map(Self::P256),
            (1, EDDSA, Some(6)) => {
                let point = text(X)?.as_slice().try_into().ok()?;
                ed25519_dalek::VerifyingKey::from_bytes(point).ok().map(Self::Ed25519)
            }
            (3, RS256, None) => rsa_key(text(RSA_N)?, text(RSA_E)?).map(Self::Rsa),
            _ => None,
        }
    }

    /// `Some` if this key made the signature (Web Authentication, 6.5.5).
    pub(super) fn verify(self, message: &[u8], signature: &[u8]) -> Option<()> {
        match self {
            Self::P256(key) => key.verify(message, &p256::ecdsa::Signature::from_der(signature).ok()?).ok(),
            // Strict: no key of small order, whose signatures fit several messages.
            Self::Ed25519(key) => {
                key.verify_strict(message, &ed25519_dalek::Signature::from_slice(signature).ok()?).ok()
            }
            Self::Rsa(key) => verify_rsa(key, message, signature),
        }
    }
}

/// Takes one CBOR value from the front.
pub(super) fn take(bytes: &mut &[u8]) -> Option<Value> {
    ciborium::de::from_reader_with_recursion_limit(bytes, DEPTH).ok()
}

fn find(map: &[(Value, Value)], label: i64) -> Option<&Value> {
    map.iter().find(|(key, _)| *key == Value::from(label)).map(|(_, value)| value)
}
