//! The requests of the application itself: a code becomes tokens, and the access token the rest of the claims.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;

use super::claims::Claims;
use super::discovery::Metadata;
use super::error::OidcError;
use super::provider::{Pending, Provider};
use super::query;
use skep::Cx;
use skep::Error;
use skep::fetch::FetchRequest;

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// What the token endpoint gives for a code. There is more, which is not needed.
#[derive(Deserialize)]
pub(super) struct Tokens {
    pub(super) id_token: String,
    access_token: Option<String>,
    token_type: Option<String>,
}

/// RFC 6749, 5.2.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Provider {
    /// Redeems the code, which proves with the verifier that it was asked for here.
    pub(super) async fn exchange(
        &self,
        cx: &Cx<'_>,
        metadata: &Metadata,
        code: &str,
        pending: &Pending,
    ) -> Result<Tokens, OidcError> {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &pending.redirect_uri),
            ("code_verifier", &pending.verifier),
        ];
        let mut request = FetchRequest::post(&*metadata.token_endpoint);
        match &self.secret {
            Some(secret) if metadata.takes_basic() => {
                // Both are encoded as in a form first (RFC 6749, 2.3.1).
                let pair = format!("{}:{}", query::escape(&self.client_id), query::escape(secret.reveal()));
                request = request.header(header::AUTHORIZATION, credentials("Basic", &STANDARD.encode(pair))?);
            }
            Some(secret) => form.extend([("client_id", &*self.client_id), ("client_secret", &**secret.reveal())]),
            None => form.push(("client_id", &self.client_id)),
        }
        let accept = HeaderValue::from_static("application/json");
        let request = request.body(FORM, query::encode(&form)).header(header::ACCEPT, accept);
        let response = Self::send(cx, request).await?;
        if matches!(response.status(), StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED) {
            let refusal: Option<Refusal> = serde_json::from_slice(response.bytes()).ok();
            let error = refusal.map_or_else(|| response.status().to_string(), |refusal| refusal.error);
            return Err(OidcError::untrusted(format!("the token endpoint responded {}", printable(&error))));
        }
        Self::json(&response)
    }

    /// Adds the claims that only the userinfo endpoint has, as some providers keep ID tokens short (OpenID Connect Core
    /// 1.0, 5.4).
    pub(super) async fn add_user_info(
        &self,
        cx: &Cx<'_>,
        metadata: &Metadata,
        tokens: &Tokens,
        claims: &mut Claims,
    ) -> Result<(), OidcError> {
        // A token of another type is not sent like this one (RFC 6749, 7.1).
        let is_bearer = tokens.token_type.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
        let is_complete = claims.email().is_some() || !self.scopes.split(' ').any(|scope| scope == "email");
        let (Some(endpoint), Some(token), false) =
            (&metadata.userinfo_endpoint, &tokens.access_token, is_complete || !is_bearer)
        else {
            return Ok(());
        };
        let request = FetchRequest::get(&**endpoint).header(header::AUTHORIZATION, credentials("Bearer", token)?);
        let mut more: serde_json::Map<String, serde_json::Value> = Self::get(cx, request).await?;
        // It names no issuer; and it must be about the same user (5.3.2).
        more.insert("iss".to_owned(), self.issuer.clone().into());
        let more = serde_json::from_value(more.into())
            .map(|said| Claims::verified(said, None))
            .map_err(|_| OidcError::untrusted("the userinfo endpoint does not say whom it is about"))?;
        if more.subject() != claims.subject() {
            return Err(OidcError::untrusted("the userinfo endpoint speaks of another user"));
        }
        claims.extend(more);
        Ok(())
    }
}

impl Metadata {
    /// True if the token endpoint takes the secret in a header field, which is the default (OpenID Connect Discovery
    /// 1.0, 3).
    fn takes_basic(&self) -> bool {
        let methods = self.token_endpoint_auth_methods_supported.as_ref();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "client_secret_basic"))
    }
}

fn credentials(scheme: &str, text: &str) -> Result<HeaderValue, OidcError> {
    let mut value = HeaderValue::try_from(format!("{scheme} {text}"))
        .map_err(|_| Error::internal("a token of the provider does not fit into a header field"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// A code of an error, for the log: from another server, so it may be anything.
pub(super) fn printable(code: &str) -> String {
    let is_code = |character: &char| character.is_ascii_graphic() || *character == ' ';
    code.chars().filter(is_code).take(60).collect()
}
