//! What a provider says of itself: its endpoints and its keys, and how long they are cached.

use std::time::Duration;

use http::Uri;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::{Failed, OidcError};
use super::id_token::IdToken;
use super::keys::KeySet;
use super::provider::Provider;
use crate::account::now;
use skep::Cx;
use skep::Error;
use skep::cache::Store;
use skep::fetch::{FetchRequest, FetchResponse};

/// The provider's description of itself (OpenID Connect Discovery 1.0, 3).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    pub(super) userinfo_endpoint: Option<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// RFC 9207, 3.
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// By issuer. Endpoints hardly ever change; an hour is how long a key that was withdrawn may count.
const METADATA: Store<str, Metadata> = Store::with("skep-oidc", |store| store.ttl(Duration::from_hours(1)));
const KEYS: Store<str, FetchedKeys> = Store::with("skep-oidc-keys", |store| store.ttl(Duration::from_hours(1)));

/// How old keys are before a token that none of them signed makes a request for new ones.
const OLD: Duration = Duration::from_mins(1);

/// The keys at a URL.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FetchedKeys {
    keys: KeySet,
    /// When, in milliseconds since 1970.
    at: u64,
}

impl Provider {
    /// The endpoints, from the cache or from `/.well-known/openid-configuration`. However many ask at once, the
    /// provider is asked once.
    pub(super) async fn metadata(&self, cx: &Cx<'_>) -> Result<Metadata, OidcError> {
        let fetch = || async { Ok::<_, Failed>(self.fetch_metadata(cx).await?) };
        cx.cache(&METADATA).get_or(&self.issuer, fetch).await.map_err(OidcError::of_flight)
    }

    async fn fetch_metadata(&self, cx: &Cx<'_>) -> Result<Metadata, OidcError> {
        Self::require_tls(&self.issuer)?;
        let url = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let metadata: Metadata = Self::get(cx, FetchRequest::get(url)).await?;
        // Or anybody who is trusted to describe one issuer could speak for all.
        if metadata.issuer != self.issuer {
            return Err(OidcError::untrusted("the configuration of the provider names another issuer"));
        }
        let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri];
        for endpoint in endpoints.into_iter().chain(&metadata.userinfo_endpoint) {
            Self::require_tls(endpoint)?;
        }
        Ok(metadata)
    }

    /// Checks the signature of a token. If none of the cached keys made it, the provider may have changed its keys
    /// since.
    pub(super) async fn verify(cx: &Cx<'_>, metadata: &Metadata, token: &IdToken<'_>) -> Result<(), OidcError> {
        let made_it = |keys: &KeySet| keys.verify(&token.header, token.message, &token.signature);
        let url = &metadata.jwks_uri;
        let mut found = Self::keys(cx, url, url).await?;
        if !made_it(&found.keys) && u128::from(now(cx).saturating_sub(found.at)) >= OLD.as_millis() {
            // All who find these keys too old wait for one request, too.
            found = Self::keys(cx, url, &format!("{url} after {}", found.at)).await?;
            cx.cache(&KEYS).set(url, &found).await.map_err(Error::from)?;
        }
        let problem = "no key of the provider made the signature of the ID token";
        if made_it(&found.keys) { Ok(()) } else { Err(OidcError::untrusted(problem)) }
    }

    /// The keys at a URL, from the cache under this name or from the provider.
    async fn keys(cx: &Cx<'_>, url: &str, name: &str) -> Result<FetchedKeys, OidcError> {
        let fetch = || async {
            let keys = Self::get(cx, FetchRequest::get(url)).await?;
            Ok::<_, Failed>(FetchedKeys { keys, at: now(cx) })
        };
        cx.cache(&KEYS).get_or(name, fetch).await.map_err(OidcError::of_flight)
    }

    /// JSON of the provider.
    pub(super) async fn get<T: DeserializeOwned>(cx: &Cx<'_>, request: FetchRequest) -> Result<T, OidcError> {
        Self::json(&Self::send(cx, request).await?)
    }

    pub(super) async fn send(cx: &Cx<'_>, request: FetchRequest) -> Result<FetchResponse, OidcError> {
        cx.fetch(request).await.map_err(|error| {
            // Its fault, unless a setting is missing here.
            if !error.is_remote() {
                Error::from(error).into()
            } else if error.is_too_large() {
                OidcError::untrusted(error)
            } else {
                OidcError::unavailable(error)
            }
        })
    }

    pub(super) fn json<T: DeserializeOwned>(response: &FetchResponse) -> Result<T, OidcError> {
        let is_down = response.status().is_server_error();
        response.json().map_err(
            |error| {
                if is_down { OidcError::unavailable(error) } else { OidcError::untrusted(error) }
            },
        )
    }

    /// Codes and keys travel over TLS, except on this machine, where a provider is tried out.
    fn require_tls(url: &str) -> Result<(), OidcError> {
        let uri = url.parse::<Uri>().ok();
        let is_safe = uri.is_some_and(|uri| match (uri.scheme_str(), uri.host()) {
            (Some("https"), Some(_)) => true,
            (Some("http"), Some(host)) => matches!(host, "localhost" | "127.0.0.1" | "[::1]"),
            _ => false,
        });
        if is_safe { Ok(()) } else { Err(OidcError::untrusted("a URL of the provider does not begin with https://")) }
    }
}
