//! What is verified of a response: the vectors of the standard, and what is damaged.

use p256::ecdsa::signature::Signer;
use serde_json::{Value, json};

use super::super::key::ALGORITHMS;
use super::*;

/// Web Authentication, level 3, 16.2: "ES256 Credential with No Attestation".
const CREATED: &str = concat!(
    "7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a22414d4d507434557878475453746e63",
    "647134313759447742466938767049612d7077386f4f755657345441222c226f726967696e223a2268747470733a2f2f6578616d706c",
    "652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e",
    "206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c",
    "207375636820617320746869733a20426b5165446a646354427258426941774a544c453551227d",
);
const OBJECT: &str = concat!(
    "a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592",
    "a5e0f01452b2e4b559000000008446ccb9ab1db374750b2367ff6f3a1f0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33",
    "ad94ff3ec330084be4a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820",
    "930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220",
);
const DATA: &str = "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b51900000000";
const USED: &str = concat!(
    "7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a224f63446e55685158756c5455506f334a5558",
    "543049393770767a7a59425039745a63685879617630314167222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f",
    "7267222c2263726f73734f726967696e223a66616c73657d",
);
const SIGNATURE: &str = concat!(
    "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1",
    "dd5d78c6e486013f937295ea13653e331e87",
);
const ID: &str = "f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4";

const CREATION: Expected<'_> = expected("AMMPt4UxxGTStncdq417YDwBFi8vpIa-pw8oOuVW4TA");
const USE: Expected<'_> = expected("OcDnUhQXulTUPo3JUXT0I97pvzzYBP9tZchXyav01Ag");

const fn expected(challenge: &str) -> Expected<'_> {
    Expected { origin: "https://example.org", rp_id: "example.org", challenge, must_verify_user: false }
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn response(response: &Value) -> String {
    let id = text(&bytes(ID));
    json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {} })
        .to_string()
}

fn created(client_data: &[u8], object: &[u8]) -> Sent<Attestation> {
    let sent = json!({ "clientDataJSON": text(client_data), "attestationObject": text(object), "transports": ["usb"] });
    parse(&response(&sent)).unwrap()
}

fn used(client_data: &[u8], data: &[u8], signature: &[u8]) -> Sent<Assertion> {
    let sent = json!({
        "clientDataJSON": text(client_data), "authenticatorData": text(data), "signature": text(signature),
        "userHandle": null,
    });
    parse(&response(&sent)).unwrap()
}

fn passkey() -> Passkey {
    let new = created(&bytes(CREATED), &bytes(OBJECT)).verify(&CREATION).unwrap();
    Passkey { id: new.id, public_key: new.public_key, counter: new.counter, verifies_user: new.verifies_user }
}

#[test]
fn the_vectors_of_the_standard_verify() {
    let passkey = passkey();
    assert_eq!((passkey.id.as_str(), passkey.counter, passkey.verifies_user), (&*text(&bytes(ID)), 0, false));
    assert_eq!(used(&bytes(USED), &bytes(DATA), &bytes(SIGNATURE)).verify(&USE, &passkey), Ok(0));
    let strict = Expected { must_verify_user: true, ..USE };
    assert_eq!(
        used(&bytes(USED), &bytes(DATA), &bytes(SIGNATURE)).verify(&strict, &passkey),
        Err("the user was not verified")
    );
}

#[test]
fn a_byte_order_mark_is_dropped_and_signed() {
    let marked = ["\u{feff}".as_bytes(), &bytes(CREATED)].concat();
    assert!(created(&marked, &bytes(OBJECT)).verify(&CREATION).is_ok());
    let marked = ["\u{feff}".as_bytes(), &bytes(USED)].concat();
    let problem = used(&marked, &bytes(DATA), &bytes(SIGNATURE)).verify(&USE, &passkey()).unwrap_err();
    assert_eq!(problem, "the signature is not that of the passkey");
}

/// Every byte of what is signed matters.
#[test]
fn no_changed_byte_verifies() {
    let passkey = passkey();
    let (client_data, data, signature) = (bytes(USED), bytes(DATA), bytes(SIGNATURE));
    for at in 0..data.len() {
        let mut changed = data.clone();
        changed[at] ^= 1;
        assert!(used(&client_data, &changed, &signature).verify(&USE, &passkey).is_err(), "{at}");
    }
    for at in 0..signature.len() {
        let mut changed = signature.clone();
        changed[at] ^= 1;
        assert!(used(&client_data, &data, &changed).verify(&USE, &passkey).is_err(), "{at}");
    }
}

#[test]
fn what_is_cut_off_or_longer_is_refused_and_never_panics() {
    let passkey = passkey();
    let (client_data, object, data, signature) = (bytes(CREATED), bytes(OBJECT), bytes(DATA), bytes(SIGNATURE));
    for length in 0..object.len() {
        assert!(created(&client_data, &object[..length]).verify(&CREATION).is_err(), "{length}");
    }
    for length in 0..client_data.len() {
        assert!(created(&client_data[..length], &object).verify(&CREATION).is_err(), "{length}");
    }
    for length in 0..data.len() {
        assert!(used(&bytes(USED), &data[..length], &signature).verify(&USE, &passkey).is_err(), "{length}");
    }
    for length in 0..signature.len() {
        assert!(used(&bytes(USED), &data, &signature[..length]).verify(&USE, &passkey).is_err(), "{length}");
    }
    let longer = |bytes: &[u8]| [bytes, &[0]].concat();
    assert!(created(&client_data, &longer(&object)).verify(&CREATION).is_err());
    assert!(used(&bytes(USED), &longer(&data), &signature).verify(&USE, &passkey).is_err());
}

/// Numbers that come from a seed: what fails, fails again.
#[test]
fn no_bytes_at_all_panic() {
    let (client_data, object) = (bytes(CREATED), bytes(OBJECT));
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).unwrap()
    };
    for _ in 0..20_000 {
        let mut changed = object.clone();
        for _ in 0..=next() % 4 {
            let at = next() % changed.len();
            changed[at] = u8::try_from(next() % 256).unwrap();
        }
        let _ = created(&client_data, &changed).verify(&CREATION);
    }
    // Arrays in arrays, and lengths that nothing follows.
    for object in [vec![0x81; 100_000], vec![0x9b, 255, 255, 255, 255, 255, 255, 255, 255], vec![0x5f; 1000]] {
        assert!(created(&client_data, &object).verify(&CREATION).is_err());
    }
}

#[test]
fn a_key_is_for_its_algorithm_alone() {
    use ciborium::Value as Cbor;
    let point = p256::ecdsa::SigningKey::from_slice(&[1; 32]).unwrap().verifying_key().to_sec1_point(false);
    let point: &[u8] = point.as_ref();
    let key = |kty: i64, alg: i64, crv: i64, y: &[u8]| {
        let (x, y) = (Cbor::from(point[1..33].to_vec()), Cbor::from(y.to_vec()));
        let entries = [(1, kty.into()), (3, alg.into()), (-1, crv.into()), (-2, x), (-3, y)];
        let map = Cbor::Map(entries.into_iter().map(|(label, value)| (Cbor::from(label), value)).collect());
        let mut bytes = Vec::new();
        ciborium::into_writer(&map, &mut bytes).unwrap();
        PublicKey::parse(&bytes).is_some()
    };
    let y = &point[33..];
    assert!(key(2, -7, 1, y));
    for (kty, alg, crv) in [(2, -8, 1), (2, -7, 2), (1, -7, 6), (2, -257, 1), (3, -257, 1), (2, -35, 1), (4, 5, 1)] {
        assert!(!key(kty, alg, crv, y), "{kty} {alg} {crv}");
    }
    assert!(!key(2, -7, 1, &[0; 32]) && !key(2, -7, 1, &y[1..]), "it is no point of the curve");
    assert_eq!(ALGORITHMS, [-7, -8, -257]);
}

#[test]
fn a_weak_key_of_ed25519_verifies_nothing() {
    // The neutral element, for which a signature of zeros fits any message where nobody looks.
    let mut cose = vec![0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32, 1];
    cose.extend([0; 31]);
    let key = || PublicKey::parse(&cose).unwrap();
    let mut signature = [0; 64];
    signature[0] = 1;
    assert!(key().verify(b"anything", &signature).is_none());
    let good = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
    cose.splice(10.., good.verifying_key().to_bytes());
    let key = PublicKey::parse(&cose).unwrap();
    assert!(key.verify(b"anything", &good.sign(b"anything").to_bytes()).is_some());
}
