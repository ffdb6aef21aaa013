//! Two-factor authentication: codes of an authenticator application (TOTP, RFC 6238), and recovery codes.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::random;
use skep::Cx;
use skep::Error;
use skep::Result;

/// What authenticator applications agree on: RFC 6238 with SHA-1, 30 seconds and six digits.
const STEP_SECONDS: u64 = 30;

/// RFC 3986, 2.3.
const NOT_UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// 160 bits, as RFC 4226, 4 recommends.
const SECRET_BYTES: usize = 20;

/// The secret that an authenticator application and this one share. It is never printed.
///
/// ```
/// use skep_people::Totp;
///
/// let totp = Totp::generate()?;
/// // What the user scans as a QR code, or types:
/// assert!(totp.uri("Shop", "ada@example.org").starts_with("otpauth://totp/Shop:ada%40example.org?secret="));
/// // To be typed; what is stored is sealed:
/// assert_eq!(Totp::parse(&totp.to_text()).unwrap().to_text(), totp.to_text());
/// # Ok::<(), skep::Error>(())
/// ```
pub struct Totp(Vec<u8>);

skep_units::opaque_debug!(Totp);

impl Totp {
    /// A new secret. An example is at [`Totp`].
    pub fn generate() -> Result<Self> {
        Ok(Self(random::bytes::<SECRET_BYTES>()?.to_vec()))
    }

    /// A secret as [`to_text`](Self::to_text) writes it, or another program: base32 (RFC 4648), in any case, with or
    /// without spaces. An example is at [`Totp`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = from_base32(text)?;
        (bytes.len() >= 10).then_some(Self(bytes))
    }

    /// The secret in base32, to be typed. What is stored is [sealed](Self::seal). An example is at [`Totp`].
    #[must_use]
    pub fn to_text(&self) -> String {
        to_base32(&self.0)
    }

    /// The secret as the application stores it: encrypted with its keys, for this account alone, so that who reads the
    /// database can make no codes, and who copies it to another account neither.
    /// [`TotpAccount::sealed_totp`](crate::TotpAccount::sealed_totp) gives it back.
    ///
    /// When keys are rotated, the old one is needed until all that it sealed is sealed again. An example is in the
    /// guide, `docs/guides/people/sign-up.md`.
    ///
    /// # Errors
    /// If the application's keys cannot be read.
    pub fn seal<A: Account>(&self, cx: &Cx<'_>, account: &A) -> Result<String> {
        cx.keys().seal(&purpose(account), &self.0)
    }

    /// The secret that was [sealed](Self::seal) for this account.
    ///
    /// ```no_run
    /// # use skep_people::{Totp, TotpAccount};
    /// # fn seal_again<A: TotpAccount>(cx: &skep::Cx<'_>, account: &A) -> skep::Result<Option<String>> {
    /// // The keys were rotated: seals with the new one.
    /// let Some(sealed) = account.sealed_totp() else { return Ok(None) };
    /// Ok(Some(Totp::open(cx, account, sealed)?.seal(cx, account)?))
    /// # }
    /// ```
    ///
    /// # Errors
    /// If it was changed, sealed for another account, or with a key that the application no longer has.
    pub fn open<A: Account>(cx: &Cx<'_>, account: &A, sealed: &str) -> Result<Self> {
        let secret = cx.keys().open(&purpose(account), sealed)?;
        secret.map(Self).ok_or_else(|| {
            Error::internal(
                "this secret was not sealed for this account, or with a key that is gone from the application's keys",
            )
        })
    }

    /// The secret as authenticator applications read it, usually from a QR code. An example is at [`Totp`].
    #[must_use]
    pub fn uri(&self, site: &str, user: &str) -> String {
        let encoded = |text| utf8_percent_encode(text, NOT_UNRESERVED).to_string();
        let (site, secret) = (encoded(site), self.to_text());
        format!(
            "otpauth://totp/{site}:{}?secret={secret}&issuer={site}&algorithm=SHA1&digits=6&period=30",
            encoded(user)
        )
    }

    /// The code at a time, in seconds since 1970: for tests.
    ///
    /// ```
    /// // RFC 6238, appendix B.
    /// let totp = skep_people::Totp::parse("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ").unwrap();
    /// assert_eq!(totp.code_at(1_111_111_109), "081804");
    /// ```
    #[must_use]
    pub fn code_at(&self, seconds: u64) -> String {
        self.code(seconds / STEP_SECONDS)
    }

    /// The step that a code belongs to, of the present one and its neighbours: clocks differ, and typing takes time
    /// (RFC 6238, 5.2).
    pub(crate) fn step_of(&self, code: &str, seconds: u64) -> Option<u64> {
        let code: String = code.chars().filter(|sign| !sign.is_whitespace()).collect();
        let now = seconds / STEP_SECONDS;
        [now, now.saturating_sub(1), now + 1].into_iter().find(|step| self.code(*step) == code)
    }

    /// RFC 4226, 5.3.
    fn code(&self, step: u64) -> String {
        let mut mac = Hmac::<Sha1>::new_from_slice(&self.0).expect("a key of any length will do");
        mac.update(&step.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let at = usize::from(hash[hash.len() - 1] & 15);
        let number = u32::from_be_bytes([hash[at] & 0x7f, hash[at + 1], hash[at + 2], hash[at + 3]]);
        format!("{:06}", number % 1_000_000)
    }
}

/// Codes that stand in for a lost authenticator application, once each: to be shown once, and printed.
///
/// ```
/// use skep_people::{RecoveryCodes, hash_recovery_code};
///
/// let codes = RecoveryCodes::generate()?;
/// assert_eq!((codes.shown.len(), codes.shown[0].len()), (10, 19)); // "ABCD-EFGH-IJKL-MNOP"
/// assert_eq!(hash_recovery_code(&codes.shown[0].to_lowercase().replace('-', " ")), codes.hashes[0]);
/// # Ok::<(), skep::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct RecoveryCodes {
    /// What the user gets.
    pub shown: Vec<String>,
    /// What the application stores: [`hash_recovery_code`] of each.
    pub hashes: Vec<String>,
}

skep_units::opaque_debug!(RecoveryCodes);

impl RecoveryCodes {
    /// Ten codes of 80 bits.
    pub fn generate() -> Result<Self> {
        let shown = (0..10).map(|_| Ok(grouped(&to_base32(&random::bytes::<10>()?)))).collect::<Result<Vec<_>>>()?;
        let hashes = shown.iter().map(|code| hash_recovery_code(code)).collect();
        Ok(Self { shown, hashes })
    }
}

/// The hash of a recovery code, however it was typed. A fast one will do: nobody guesses 80 bits.
///
/// An example is at [`RecoveryCodes`].
#[must_use]
pub fn hash_recovery_code(code: &str) -> String {
    let code: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    URL_SAFE_NO_PAD.encode(Sha256::digest(code.to_ascii_uppercase()))
}

fn grouped(text: &str) -> String {
    let signs: Vec<char> = text.chars().collect();
    signs.chunks(4).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

fn purpose<A: Account>(account: &A) -> String {
    format!("totp of {} {}", A::KIND, account.id())
}

/// RFC 4648, 6; without padding.
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn to_base32(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::new(), 0_u32, 0);
    for byte in bytes {
        (bits, count) = (bits << 8 | u32::from(*byte), count + 8);
        while count >= 5 {
            count -= 5;
            text.push(char::from(ALPHABET[(bits >> count & 31) as usize]));
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        text.push(char::from(ALPHABET[(bits << (5 - count) & 31) as usize]));
    }
    text
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for sign in text.bytes().filter(|sign| !sign.is_ascii_whitespace() && *sign != b'=') {
        let value = ALPHABET.iter().position(|letter| *letter == sign.to_ascii_uppercase())?;
        (bits, count) = (bits << 5 | u32::try_from(value).ok()?, count + 5);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 255).ok()?);
        }
        bits &= (1 << count) - 1;
    }
    Some(bytes)
}

#[cfg(test)]
#[path = "../tests/unit/totp.rs"]
mod tests;
