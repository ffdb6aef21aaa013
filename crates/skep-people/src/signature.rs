//! Signatures of others, which are verified and never made here: RSASSA-PKCS1-v1_5 and ECDSA on P-256, both with
//! SHA-256.

use p256::ecdsa::signature::Verifier;
use rsa::BoxedUint;
use sha2::Sha256;

/// Bits of the modulus of an RSA key: fewer are not safe, and more take long (RFC 7518, 3.3).
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

/// A key by its modulus and its exponent.
pub(crate) fn rsa_key(n: &[u8], e: &[u8]) -> Option<rsa::PublicKey> {
    let number = BoxedUint::from_be_slice_vartime;
    rsa::PublicKey::new_with_size_limits(number(n), number(e), RSA_BITS).ok()
}

/// A key by its coordinates.
pub(crate) fn p256_key(x: &[u8], y: &[u8]) -> Option<p256::ecdsa::VerifyingKey> {
    // An uncompressed point (SEC 1, 2.3.3); the library checks that it is on the curve.
    p256::ecdsa::VerifyingKey::from_sec1_bytes(&[&[4], x, y].concat()).ok()
}

/// `Some` if this key made the signature.
pub(crate) fn verify_rsa(key: rsa::PublicKey, message: &[u8], signature: &[u8]) -> Option<()> {
    let signature = rsa::pkcs1v15::Signature::try_from(signature).ok()?;
    rsa::pkcs1v15::VerifyingKey::<Sha256>::new(key).verify(message, &signature).ok()
}
