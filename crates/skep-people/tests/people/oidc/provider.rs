//! A provider, which signs with real keys and says what a test wants.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use p256::ecdsa::signature::Signer;
use rsa::signature::SignatureEncoding;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use skep::fetch::{Bounds, FetchError, Fetcher, Fetching};

use crate::rsa_key;

pub(crate) const ISSUER: &str = "https://accounts.example.org/main";
pub(crate) const CLIENT: &str = "our client";
pub(crate) const SECRET: &str = "s3cr3t: 100 %";

type Object = Map<String, Value>;
type Change = Box<dyn Fn(&mut Object, &mut Object) + Send>;

/// What the provider does, for a test to change.
pub(crate) struct Rules {
    /// Replaces parts of the configuration.
    pub(crate) configuration: Object,
    /// Header and claims of the next tokens.
    pub(crate) change: Change,
    /// The keys that it publishes, by id.
    pub(crate) published: Vec<(&'static str, Signing)>,
    /// What userinfo says.
    pub(crate) user_info: Value,
    /// The error of the token endpoint.
    pub(crate) refuses: Option<&'static str>,
    pub(crate) is_down: bool,
    /// It responds so late that everybody who asks at once waits for it.
    pub(crate) is_slow: bool,
    /// The paths that were asked for.
    pub(crate) requests: Vec<String>,
    /// The queries of those who wait for a code.
    codes: HashMap<String, HashMap<String, String>>,
}

/// How a token is signed, by its header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Rsa,
    /// With the key of this number.
    P256(u8),
}

#[derive(Clone)]
pub(crate) struct Fake(pub(crate) Arc<Mutex<Rules>>, pub(crate) skep_cache::Clock);

impl Fake {
    pub(crate) fn new(clock: &skep_cache::Clock) -> Self {
        let rules = Rules {
            configuration: Object::new(),
            change: Box::new(|_, _| ()),
            published: vec![("first", Signing::P256(1)), ("rsa", Signing::Rsa)],
            user_info: Value::Null,
            refuses: None,
            is_down: false,
            is_slow: false,
            requests: Vec::new(),
            codes: HashMap::new(),
        };
        Self(Arc::new(Mutex::new(rules)), clock.clone())
    }

    pub(crate) fn rules(&self) -> std::sync::MutexGuard<'_, Rules> {
        self.0.lock().unwrap()
    }

    pub(crate) fn change(&self, change: impl Fn(&mut Object, &mut Object) + Send + 'static) {
        self.rules().change = Box::new(change);
    }

    /// How often something was asked for.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.rules().requests.iter().filter(|request| *request == path).count()
    }

    /// What the user's consent gives: a code for the query that the browser came with.
    pub(crate) fn consent(&self, query: HashMap<String, String>) -> String {
        let mut rules = self.rules();
        let code = format!("code-{}", rules.codes.len());
        rules.codes.insert(code.clone(), query);
        code
    }

    fn token(&self, rules: &Rules, nonce: &str) -> String {
        let now = self.1.now().millis() / 1000;
        let header = json!({"alg": "ES256", "kid": "first", "typ": "JWT"});
        let claims = json!({
            "iss": ISSUER, "sub": "ada-1815", "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": nonce,
            "name": "Ada", "email": "ada@example.org", "email_verified": true,
        });
        let (mut header, mut claims) = (header.as_object().unwrap().clone(), claims.as_object().unwrap().clone());
        (rules.change)(&mut header, &mut claims);
        let signing = match header.remove("signed by") {
            Some(number) => Signing::P256(u8::try_from(number.as_u64().unwrap()).unwrap()),
            None if header["alg"] == "RS256" => Signing::Rsa,
            None => Signing::P256(1),
        };
        let is_changed = header.remove("is changed").is_some();
        let part = |object: &Object| URL_SAFE_NO_PAD.encode(serde_json::to_vec(object).unwrap());
        let message = format!("{}.{}", part(&header), part(&claims));
        let mut signature = match header["alg"].as_str().unwrap() {
            "none" => Vec::new(),
            "HS256" => hmac(&signing.point().concat(), message.as_bytes()),
            _ => signing.sign(message.as_bytes()),
        };
        if is_changed {
            signature[40] ^= 1;
        }
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    fn redeem(&self, rules: &mut Rules, request: &Request<Bytes>) -> (u16, Value) {
        let form = pairs(std::str::from_utf8(request.body()).unwrap());
        let expected = STANDARD.encode("our+client:s3cr3t%3A+100+%25");
        let is_client =
            request.headers().get("authorization").is_some_and(|value| *value == *format!("Basic {expected}"))
                || (form.get("client_id").is_some_and(|id| id == CLIENT)
                    && form.get("client_secret").is_some_and(|secret| secret == SECRET));
        if !is_client {
            return (401, json!({"error": "invalid_client"}));
        }
        if let Some(error) = rules.refuses {
            return (400, json!({"error": error}));
        }
        let Some(query) = rules.codes.remove(&form["code"]) else { return (400, json!({"error": "invalid_grant"})) };
        assert_eq!(form["redirect_uri"], query["redirect_uri"]);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
        assert_eq!((&*query["code_challenge_method"], &challenge), ("S256", &query["code_challenge"]));
        let token = self.token(rules, &query["nonce"]);
        (200, json!({"id_token": token, "access_token": "access", "token_type": "Bearer"}))
    }

    fn respond(&self, request: &Request<Bytes>) -> (u16, Value) {
        let mut rules = self.rules();
        let path = request.uri().path().to_owned();
        rules.requests.push(path.clone());
        match &*path {
            "/main/.well-known/openid-configuration" => {
                let url = |path: &str| format!("https://accounts.example.org{path}");
                let configuration = json!({
                    "issuer": ISSUER, "authorization_endpoint": url("/authorize?ui=1"), "token_endpoint": url("/token"),
                    "jwks_uri": url("/keys"), "userinfo_endpoint": url("/userinfo"), "claims_supported": ["sub"],
                });
                let mut configuration = configuration.as_object().unwrap().clone();
                configuration.extend(rules.configuration.clone());
                (200, configuration.into())
            }
            "/keys" => {
                let others = [json!({"kty": "OKP", "kid": "other", "crv": "Ed25519", "x": "AAAA"})];
                let keys = rules.published.iter().map(|(id, signing)| signing.published(id));
                (200, json!({"keys": others.into_iter().chain(keys).collect::<Vec<_>>()}))
            }
            "/token" => self.redeem(&mut rules, request),
            "/userinfo" if request.headers()["authorization"] == "Bearer access" => (200, rules.user_info.clone()),
            _ => (404, Value::Null),
        }
    }
}

impl Fetcher for Fake {
    fn fetch(&self, request: Request<Bytes>, _bounds: Bounds) -> Fetching<'_> {
        let (is_down, is_slow) = {
            let rules = self.rules();
            (rules.is_down, rules.is_slow)
        };
        let (status, body) = self.respond(&request);
        let mut response = Response::new(Bytes::from(body.to_string()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        Box::pin(async move {
            if is_slow {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let refused = || FetchError::unreachable("accounts.example.org", "connection refused");
            if is_down { Err(refused()) } else { Ok(response) }
        })
    }
}

impl Signing {
    fn p256(number: u8) -> p256::ecdsa::SigningKey {
        p256::ecdsa::SigningKey::from_slice(&[number; 32]).unwrap()
    }

    /// The coordinates of the public key.
    fn point(self) -> [Vec<u8>; 2] {
        let Self::P256(number) = self else { return Default::default() };
        let point = Self::p256(number).verifying_key().to_sec1_point(false);
        let bytes: &[u8] = point.as_ref();
        [bytes[1..33].to_vec(), bytes[33..].to_vec()]
    }

    fn sign(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa => {
                let signature = rsa::pkcs1v15::SigningKey::<Sha256>::new(rsa_key::key()).sign(message);
                signature.to_vec()
            }
            Self::P256(number) => {
                let signature: p256::ecdsa::Signature = Self::p256(number).sign(message);
                signature.to_vec()
            }
        }
    }

    fn published(self, id: &str) -> Value {
        use rsa::traits::PublicKeyParts;
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Rsa => {
                let n = text(&rsa_key::key().n().to_be_bytes_trimmed_vartime());
                json!({"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": n, "e": "AQAB"})
            }
            Self::P256(_) => {
                let [x, y] = self.point();
                json!({"kty": "EC", "kid": id, "crv": "P-256", "use": "sig", "x": text(&x), "y": text(&y)})
            }
        }
    }
}

fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    use hmac::{KeyInit, Mac};
    hmac::Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(message).finalize().into_bytes().to_vec()
}

/// Names and values of a query or form.
pub(crate) fn pairs(text: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}
