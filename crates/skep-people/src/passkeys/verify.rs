//! What is asked of the browser's response. The steps are those of Web Authentication, level 3: 7.1 to register, 7.2 to
//! sign in.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::account::Passkey;
use super::authenticator::AuthenticatorData;
use super::key::{PublicKey, take};

/// Longer ids are refused (7.1, step 25).
const LONGEST_ID: usize = 1023;

/// What a response must fit.
pub(super) struct Expected<'a> {
    /// Scheme, host and port of this site.
    pub(super) origin: &'a str,
    /// The host alone.
    pub(super) rp_id: &'a str,
    pub(super) challenge: &'a str,
    pub(super) must_verify_user: bool,
}

/// What the browser sends: the JSON of a `PublicKeyCredential` (5.1), of which the rest is not read.
#[derive(Deserialize)]
pub(super) struct Sent<R> {
    #[serde(rename = "rawId")]
    pub(super) id: String,
    #[serde(rename = "type")]
    kind: String,
    pub(super) response: R,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attestation {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    attestation_object: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Assertion {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
    authenticator_data: String,
    signature: String,
    pub(super) user_handle: Option<String>,
}

/// What the browser says of the page that asked (5.8.1).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    pub(super) challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<serde_json::Value>,
}

/// What is kept of a new key.
#[derive(Debug)]
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) public_key: String,
    pub(super) counter: u32,
    pub(super) verifies_user: bool,
}

type Checked<T> = Result<T, &'static str>;

/// A response, as the script sends it.
pub(super) fn parse<R: for<'de> Deserialize<'de>>(response: &str) -> Checked<Sent<R>> {
    serde_json::from_str(response).map_err(|_| "the response is not that of an authenticator")
}

impl Attestation {
    /// What the browser says; nothing of it is verified yet.
    pub(super) fn client_data(&self) -> Checked<ClientData> {
        ClientData::parse(&decode(&self.client_data)?)
    }
}

impl Assertion {
    /// What the browser says; nothing of it is verified yet.
    pub(super) fn client_data(&self) -> Checked<ClientData> {
        ClientData::parse(&decode(&self.client_data)?)
    }
}

impl Sent<Attestation> {
    /// 7.1, steps 5 to 25. The statement of the authenticator about itself (steps 21 to 24) was not asked for.
    pub(super) fn verify(&self, expected: &Expected<'_>) -> Checked<Registered> {
        self.response.client_data()?.check("webauthn.create", expected)?;
        let object = decode(&self.response.attestation_object)?;
        let data = AuthenticatorData::of_attestation(&object).ok_or("the attestation object is damaged")?;
        data.check(expected)?;
        let credential = data.credential.as_ref().ok_or("there is no new key")?;
        PublicKey::parse(&credential.public_key).ok_or("the new key is of no algorithm that was asked for")?;
        let id = URL_SAFE_NO_PAD.encode(&credential.id);
        let rules = [
            (self.kind == "public-key", "it is no public key"),
            (id == self.id, "the new key has another id than its response"),
            ((1..=LONGEST_ID).contains(&credential.id.len()), "the id of the new key is empty or too long"),
        ];
        hold(&rules)?;
        Ok(Registered {
            id,
            public_key: URL_SAFE_NO_PAD.encode(&credential.public_key),
            counter: data.counter,
            verifies_user: data.is_user_verified(),
        })
    }
}

impl Sent<Assertion> {
    /// 7.2, steps 7 to 21: the signature counter, if this passkey made the response. Whose passkey it is (steps 5 and
    /// 6), and whether the counter went up (step 22), is the caller's to say.
    pub(super) fn verify(&self, expected: &Expected<'_>, passkey: &Passkey) -> Checked<u32> {
        let client_data = decode(&self.response.client_data)?;
        ClientData::parse(&client_data)?.check("webauthn.get", expected)?;
        hold(&[(self.kind == "public-key" && self.id == passkey.id, "it is another passkey's response")])?;
        let signed = decode(&self.response.authenticator_data)?;
        let data = AuthenticatorData::parse(&signed).ok_or("the authenticator data is damaged")?;
        data.check(expected)?;
        let key = PublicKey::parse(&decode(&passkey.public_key)?).ok_or("the stored key is damaged")?;
        let message = [&signed[..], &Sha256::digest(&client_data)].concat();
        key.verify(&message, &decode(&self.response.signature)?).ok_or("the signature is not that of the passkey")?;
        Ok(data.counter)
    }
}

impl ClientData {
    fn parse(json: &[u8]) -> Checked<Self> {
        // "UTF-8 decode" drops a byte order mark (7.1, step 5; 7.2, step 8).
        let json = json.strip_prefix("\u{feff}".as_bytes()).unwrap_or(json);
        serde_json::from_slice(json).map_err(|_| "the client data is damaged")
    }

    /// 7.1, steps 7 to 11; 7.2, steps 10 to 14.
    fn check(&self, kind: &str, expected: &Expected<'_>) -> Checked<()> {
        hold(&[
            (self.kind == kind, "the response is for another ceremony"),
            (self.challenge == expected.challenge, "the response is for another challenge"),
            (self.origin == expected.origin, "the response was made on another site"),
            (!self.cross_origin && self.top_origin.is_none(), "the response was made inside a page of another site"),
        ])
    }
}

impl AuthenticatorData {
    /// What is in an attestation object (6.5).
    fn of_attestation(mut object: &[u8]) -> Option<Self> {
        let Value::Map(map) = take(&mut object)? else { return None };
        let data = map.iter().find(|(key, _)| key.as_text() == Some("authData"))?.1.as_bytes()?;
        if object.is_empty() { Self::parse(data) } else { None }
    }

    /// 7.1, steps 14 to 17; 7.2, steps 15 to 18.
    fn check(&self, expected: &Expected<'_>) -> Checked<()> {
        let hash: [u8; 32] = Sha256::digest(expected.rp_id).into();
        hold(&[
            (self.rp_id_hash == hash, "the response is for another site"),
            (self.is_user_present(), "no user was present"),
            (!expected.must_verify_user || self.is_user_verified(), "the user was not verified"),
            (self.is_backup_plausible(), "the passkey is backed up and cannot be"),
        ])
    }
}

/// The first rule that does not hold says what is wrong.
fn hold(rules: &[(bool, &'static str)]) -> Checked<()> {
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(problem))
}

/// Base64url without padding (5, "base64url encoding").
fn decode(text: &str) -> Checked<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| "the response is not base64url")
}

#[cfg(test)]
#[path = "../../tests/unit/passkeys.rs"]
mod tests;
