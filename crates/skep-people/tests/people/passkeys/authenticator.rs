//! An authenticator with real keys, and the browser around it: what they answer, and what an attacker's would.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use p256::ecdsa::signature::{SignatureEncoding, Signer};
use rsa::traits::PublicKeyParts;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::rsa_key;

pub(crate) const PRESENT: u8 = 1;
pub(crate) const VERIFIED: u8 = 4;
pub(crate) const BACKED_UP: u8 = 16;
const HAS_CREDENTIAL: u8 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Es256,
    EdDsa,
    Rs256,
}

/// A key, and what it says of itself: for a test to change.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator {
    algorithm: Algorithm,
    seed: u8,
    pub(crate) id: Vec<u8>,
    pub(crate) counter: u32,
    pub(crate) flags: u8,
    pub(crate) origin: String,
    pub(crate) rp_id: String,
    pub(crate) handle: Option<String>,
    /// Replaces `type` of the client data.
    pub(crate) kind: Option<&'static str>,
    /// Replaces the challenge.
    pub(crate) challenge: Option<String>,
    pub(crate) cross_origin: bool,
}

impl Authenticator {
    /// A different number is a different key.
    pub(crate) fn new(algorithm: Algorithm, seed: u8) -> Self {
        Self {
            algorithm,
            seed,
            id: vec![seed; 16],
            counter: 0,
            flags: PRESENT | VERIFIED,
            origin: "http://localhost".to_owned(),
            rp_id: "localhost".to_owned(),
            handle: None,
            kind: None,
            challenge: None,
            cross_origin: false,
        }
    }

    /// What `navigator.credentials.create` resolves to, as JSON.
    pub(crate) fn create(&mut self, options: &Value) -> Value {
        let options = &options["create"];
        self.handle = Some(options["user"]["id"].as_str().unwrap().to_owned());
        let mut data = self.data(HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.public_key());
        let object = Cbor::Map(vec![
            (Cbor::from("fmt"), Cbor::from("none")),
            (Cbor::from("attStmt"), Cbor::Map(Vec::new())),
            (Cbor::from("authData"), Cbor::from(data)),
        ]);
        let client_data = self.client_data("webauthn.create", options);
        self.response(&json!({ "clientDataJSON": text(&client_data), "attestationObject": text(&encoded(&object)) }))
    }

    /// What `navigator.credentials.get` resolves to, as JSON.
    pub(crate) fn get(&mut self, options: &Value) -> Value {
        self.counter += u32::from(self.counter > 0);
        let data = self.data(0);
        let client_data = self.client_data("webauthn.get", &options["get"]);
        let signature = self.sign(&[&data[..], &Sha256::digest(&client_data)].concat());
        self.response(&json!({
            "clientDataJSON": text(&client_data), "authenticatorData": text(&data), "signature": text(&signature),
            "userHandle": self.handle,
        }))
    }

    fn response(&self, response: &Value) -> Value {
        json!({ "id": text(&self.id), "rawId": text(&self.id), "type": "public-key", "response": response })
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(&self.rp_id).to_vec();
        data.push(self.flags | flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        let challenge = self.challenge.as_deref().unwrap_or_else(|| options["challenge"].as_str().unwrap());
        let data = json!({
            "type": self.kind.unwrap_or(kind), "challenge": challenge, "origin": self.origin,
            "crossOrigin": self.cross_origin,
        });
        data.to_string().into_bytes()
    }

    fn p256(&self) -> p256::ecdsa::SigningKey {
        p256::ecdsa::SigningKey::from_slice(&[self.seed; 32]).unwrap()
    }

    fn ed25519(&self) -> ed25519_dalek::SigningKey {
        ed25519_dalek::SigningKey::from_bytes(&[self.seed; 32])
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self.algorithm {
            Algorithm::Es256 => {
                let signature: p256::ecdsa::Signature = self.p256().sign(message);
                signature.to_der().as_bytes().to_vec()
            }
            Algorithm::EdDsa => self.ed25519().sign(message).to_vec(),
            Algorithm::Rs256 => rsa::pkcs1v15::SigningKey::<Sha256>::new(rsa_key::key()).sign(message).to_vec(),
        }
    }

    /// As COSE writes it.
    fn public_key(&self) -> Vec<u8> {
        let entries = match self.algorithm {
            Algorithm::Es256 => {
                let point = self.p256().verifying_key().to_sec1_point(false);
                let bytes: &[u8] = point.as_ref();
                let (x, y) = (bytes[1..33].to_vec(), bytes[33..].to_vec());
                vec![(1, 2.into()), (3, (-7).into()), (-1, 1.into()), (-2, Cbor::from(x)), (-3, Cbor::from(y))]
            }
            Algorithm::EdDsa => {
                let x = self.ed25519().verifying_key().to_bytes().to_vec();
                vec![(1, 1.into()), (3, (-8).into()), (-1, 6.into()), (-2, Cbor::from(x))]
            }
            Algorithm::Rs256 => {
                let n = rsa_key::key().n().to_be_bytes_trimmed_vartime().to_vec();
                vec![(1, 3.into()), (3, (-257).into()), (-1, Cbor::from(n)), (-2, Cbor::from(vec![1, 0, 1]))]
            }
        };
        encoded(&Cbor::Map(entries.into_iter().map(|(label, value)| (Cbor::from(label), value)).collect()))
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn encoded(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}
