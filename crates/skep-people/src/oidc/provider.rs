//! A provider, and the two steps of signing in with it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::claims::Claims;
use super::error::OidcError;
use super::id_token::{Expected, IdToken};
use super::query;
use super::tokens::printable;
use crate::account::now;
use crate::budget::spend_of_address;
use crate::event::{EventKind, record_of};
use crate::random;
use skep::Cx;
use skep::Response;
use skep::Secret;
use skep::link::Destination;
use skep::session::{Key, OneTimeToken};

/// A provider that users sign in with, and what it knows this application by.
///
/// ```
/// use skep::Secret;
/// use skep_people::oidc::Provider;
/// use skep::prelude::*;
///
/// fn provider() -> Provider {
///     Provider::new("Example", "https://accounts.example.org", "our-client-id").secret(Secret::new("...".to_owned()))
/// }
///
/// #[derive(Service)]
/// #[service(GET "/sign-in/example", open = "it is how to get in")]
/// struct SignIn;
///
/// impl Handle for SignIn {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         Ok(provider().begin(cx, Callback).await?)
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/sign-in/example/callback", open = "it is how to get in")]
/// struct Callback;
///
/// impl Handle for Callback {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let claims = provider().complete(cx).await?;
///         // Find or make the account of (issuer, subject), and call `claims.sign_in(cx, &account)`.
///         Ok(Response::text(format!("{} of {}", claims.subject(), claims.issuer())))
///     }
/// }
/// # let client = skep::test::Client::new(App::new().serve(services![SignIn, Callback]));
/// # assert_eq!(client.get("/sign-in/example/callback?code=1&state=2").status(), 400);
/// ```
///
/// It is a plain value: make it where it is used, from [settings](skep::settings::Settings), or give it to
/// [`App::state`](skep::App::state). What the provider says of itself is cached for an hour, for all.
#[derive(Clone, Debug)]
#[must_use]
pub struct Provider {
    pub(super) name: String,
    pub(super) issuer: String,
    pub(super) client_id: String,
    pub(super) secret: Option<Secret<String>>,
    pub(super) scopes: String,
    max_age: Option<u64>,
}

/// A sign-in that has begun.
#[derive(Serialize, Deserialize)]
pub(super) struct Pending {
    issuer: String,
    client_id: String,
    /// That of the session, so that nobody completes in one browser what was begun in another.
    browser: String,
    nonce: String,
    /// In seconds, if it was asked for.
    max_age: Option<u64>,
    pub(super) verifier: String,
    pub(super) redirect_uri: String,
}

/// `state`, as the protocol calls it. What it stands for stays here, where the session is.
const PENDING: OneTimeToken<Pending> = OneTimeToken::new("skep.oidc", Duration::from_mins(10));

/// Tells browsers apart that have begun to sign in. It is in no URL.
const BROWSER: Key<String> = Key::new("skep.oidc").kept_at_sign_in();

impl Provider {
    /// A provider. Users read its `name`; its `issuer` is the URL below which `/.well-known/openid-configuration` is,
    /// letter by letter as it is written there; the client id is what it calls this application.
    pub fn new(name: impl Into<String>, issuer: impl Into<String>, client_id: impl Into<String>) -> Self {
        let (name, issuer, client_id) = (name.into(), issuer.into(), client_id.into());
        Self { name, issuer, client_id, secret: None, scopes: "email profile".to_owned(), max_age: None }
    }

    /// The client secret. Without one, the application is a public client, which PKCE alone protects.
    pub fn secret(self, secret: Secret<String>) -> Self {
        Self { secret: Some(secret), ..self }
    }

    /// What the application wants to know, besides who the user is: scopes with spaces between them. Default:
    /// `email profile`.
    pub fn scopes(self, scopes: impl Into<String>) -> Self {
        Self { scopes: scopes.into(), ..self }
    }

    /// The provider shall ask users again who proved it to the provider longer ago than this, which is counted in
    /// seconds; zero: all of them. For a sign-in that is to be [`Fresh`](crate::Fresh), with the account's `FRESH`. A
    /// provider may not do it: [`Claims::proved_at`] is `None` then, and [`Claims::sign_in`] makes nobody fresh.
    ///
    /// ```
    /// # use skep_people::Account;
    /// # use skep_people::oidc::Provider;
    /// fn fresh<User: Account>(provider: Provider) -> Provider {
    ///     provider.max_age(User::FRESH)
    /// }
    /// ```
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age: Some(max_age.as_secs()), ..self }
    }

    /// Begins: a redirect to the provider, which sends the user back to `callback`. That service calls
    /// [`complete`](Self::complete), within ten minutes. Call it in a service for GET: browsers hold a redirect that a
    /// form led to against `form-action`.
    ///
    /// # Errors
    /// If the provider is not there, or describes itself as another one. 429 if one address (a /64 of IPv6) began 50
    /// times, as what is begun is stored.
    pub async fn begin(&self, cx: &mut Cx<'_>, callback: impl Destination) -> Result<Response, OidcError> {
        spend_of_address(cx, "oidc").await?;
        let metadata = self.metadata(cx).await.map_err(|error| error.in_language_of(cx, &self.name))?;
        let new = random()?;
        let browser = cx.session().update(&BROWSER, |old| old.unwrap_or_else(|| new.clone())).await?;
        let pending = Pending {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            browser,
            nonce: random()?,
            max_age: self.max_age,
            verifier: random()?,
            redirect_uri: cx.absolute(callback),
        };
        let state = PENDING.issue(cx, &pending).await?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&pending.verifier));
        let (scope, max_age) = (format!("openid {}", self.scopes), self.max_age.map(|seconds| seconds.to_string()));
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &self.client_id),
            ("redirect_uri", &pending.redirect_uri),
            ("scope", scope.trim_end()),
            ("state", &state),
            ("nonce", &pending.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        query.extend(max_age.as_deref().map(|seconds| ("max_age", seconds)));
        let endpoint = &metadata.authorization_endpoint;
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        let location = HeaderValue::try_from(format!("{endpoint}{separator}{}", query::encode(&query)));
        let no_url = |_| OidcError::untrusted("the authorization endpoint is no URL").in_language_of(cx, &self.name);
        let location = location.map_err(no_url)?;
        Ok(Response::empty(StatusCode::SEE_OTHER).with_header(LOCATION, location))
    }

    /// Completes: reads the query that the provider sent the browser back with, redeems its code, and verifies what the
    /// provider says. Each sign-in completes once, in the browser where it began. It signs nobody in:
    /// [`Claims::sign_in`] does.
    ///
    /// # Errors
    /// See [`OidcError`]. Each is a [`SignInRefused`](EventKind::SignInRefused) among the security events, too. 429 if
    /// one address completed 50 times in a while.
    pub async fn complete(&self, cx: &mut Cx<'_>) -> Result<Claims, OidcError> {
        spend_of_address(cx, "oidc-callback").await?;
        let outcome = self.claims(cx).await;
        if outcome.is_err() {
            record_of(cx, EventKind::SignInRefused, None, None).await;
        }
        outcome.map_err(|error| error.in_language_of(cx, &self.name))
    }

    async fn claims(&self, cx: &Cx<'_>) -> Result<Claims, OidcError> {
        let sent = cx.uri().query().unwrap_or_default();
        let pending = self.pending(cx, sent).await?;
        let metadata = self.metadata(cx).await?;
        // Which provider it comes from, if several share a callback (RFC 9207).
        let is_named = query::has(sent, "iss") || metadata.authorization_response_iss_parameter_supported;
        if is_named && query::find(sent, "iss").is_none_or(|issuer| issuer != self.issuer) {
            return Err(OidcError::untrusted("the response comes from another issuer"));
        }
        if let Some(error) = query::find(sent, "error") {
            let is_denied = error == "access_denied";
            let refused = || OidcError::untrusted(format!("the provider responded {}", printable(&error)));
            return Err(if is_denied { OidcError::denied() } else { refused() });
        }
        let code = query::find(sent, "code").ok_or_else(|| OidcError::untrusted("the provider sent no code"))?;
        let tokens = self.exchange(cx, &metadata, &code, &pending).await?;
        let token = IdToken::parse(&tokens.id_token).map_err(OidcError::untrusted)?;
        Self::verify(cx, &metadata, &token).await?;
        #[expect(clippy::cast_precision_loss, reason = "there are 285,000 years until a double is a millisecond off")]
        let now = now(cx) as f64 / 1000.0;
        let (issuer, client_id, nonce, max_age) = (&*self.issuer, &*self.client_id, &*pending.nonce, pending.max_age);
        let expected = Expected { issuer, client_id, nonce, now, max_age };
        let mut claims = token.claims(&expected).map_err(OidcError::untrusted)?;
        self.add_user_info(cx, &metadata, &tokens, &mut claims).await?;
        Ok(claims)
    }

    /// The sign-in that is completed, which is used up by it. One of another browser stays for that.
    async fn pending(&self, cx: &Cx<'_>, sent: &str) -> Result<Pending, OidcError> {
        let state = query::find(sent, "state").ok_or_else(OidcError::expired)?;
        let browser = cx.session().get(&BROWSER).await?;
        let is_ours = |pending: &Pending| {
            Some(&pending.browser) == browser.as_ref()
                && pending.issuer == self.issuer
                && pending.client_id == self.client_id
        };
        if !PENDING.peek(cx, &state).await?.as_ref().is_some_and(is_ours) {
            return Err(OidcError::expired());
        }
        PENDING.redeem(cx, &state).await?.ok_or_else(OidcError::expired)
    }
}

/// 256 bits that nobody guesses, as 43 characters: what RFC 7636, 4.1 recommends for a verifier.
fn random() -> Result<String, OidcError> {
    Ok(URL_SAFE_NO_PAD.encode(random::bytes::<32>()?))
}
