//! A ceremony that has begun. Its challenge is a token of one use, which browsers send back inside of what is signed.

use std::net::Ipv4Addr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::account::Factor;
use super::error::PasskeyError;
use super::verify::Expected;
use crate::budget::spend_of_address;
use crate::messages::AccountMessages;
use crate::random;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::session::Key;
use skep::session::OneTimeToken;

/// How long a user may take.
pub(super) const LASTS: Duration = Duration::from_mins(5);

const PENDING: OneTimeToken<Pending> = OneTimeToken::new("skep.passkey", LASTS);

/// Tells browsers apart that have begun a ceremony. It is in no response.
const BROWSER: Key<String> = Key::new("skep.passkey").kept_at_sign_in();

#[derive(Serialize, Deserialize)]
struct Pending {
    /// That of the session, so that nobody completes in one browser what was begun in another.
    browser: String,
    purpose: Purpose,
}

/// What a ceremony is for. Accounts are named by kind and id.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Purpose {
    Register(String, Factor),
    SignIn,
    SecondFactor(String),
}

/// Where this site is.
pub(super) struct Site {
    origin: String,
    pub(super) rp_id: String,
}

impl Site {
    /// Of the setting `base_url`: a passkey belongs to its host for ever. Without it the site has no passkeys, which is
    /// a 404 and no fault of the program: anybody may ask, whatever its pages offer.
    pub(super) fn of(cx: &Cx<'_>) -> Result<Self> {
        if !cx.knows_origin() {
            let cause = "passkeys need the setting `base_url`: anybody can write another `Host`";
            return Err(Error::not_found().with_message(AccountMessages::of(cx).no_passkeys).with_cause(cause));
        }
        let origin = cx.origin();
        let uri: http::Uri = origin.parse().map_err(|_| Error::internal("the origin of this site is no URL"))?;
        let rp_id = uri.host().unwrap_or_default().to_owned();
        Ok(Self { origin, rp_id })
    }

    /// True if browsers have passkeys for it: with TLS, or on the machine itself (a secure context), and never for an
    /// address of numbers.
    fn is_possible(&self) -> bool {
        let host = self.rp_id.as_str();
        let is_local = host == "localhost" || host.ends_with(".localhost");
        let is_number = host.is_empty() || host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok();
        !is_number && (is_local || self.origin.starts_with("https://"))
    }

    pub(super) fn expects<'a>(&'a self, challenge: &'a str, must_verify_user: bool) -> Expected<'a> {
        Expected { origin: &self.origin, rp_id: &self.rp_id, challenge, must_verify_user }
    }
}

/// True if passkeys can work for this site. Otherwise, show no forms for them: browsers, or Skep, would refuse each.
///
/// They need the setting `base_url`, with the name of a host and `https`, or with `localhost`. In development and in
/// tests, what the client uses counts: `http://localhost:8080` has passkeys, `http://127.0.0.1:8080` has none.
///
/// ```
/// use skep_people::passkeys::are_possible;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/sign-in")]
/// struct SignInPage;
///
/// impl Handle for SignInPage {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let page = html! {
///             p { "The form for a password." }
///             @if are_possible(cx) { p { "The button for a passkey." } }
///         };
///         Ok(Response::html(page))
///     }
/// }
/// let client = skep::test::Client::new(App::new().serve(services![SignInPage]));
/// assert!(client.get("/sign-in").text().contains("button"));
/// ```
#[must_use]
pub fn are_possible(cx: &Cx<'_>) -> bool {
    Site::of(cx).is_ok_and(|site| site.is_possible())
}

/// A new challenge, of 192 bits (Web Authentication, 13.4.3, asks for 16 bytes).
pub(super) async fn challenge(cx: &Cx<'_>, purpose: Purpose) -> Result<String> {
    // What is begun is stored.
    spend_of_address(cx, "passkey").await?;
    let new = URL_SAFE_NO_PAD.encode(random::bytes::<24>()?);
    let browser = cx.session().update(&BROWSER, |old| old.unwrap_or_else(|| new.clone())).await?;
    PENDING.issue(cx, &Pending { browser, purpose }).await
}

/// Uses up the ceremony of this challenge. One of another browser, or for something else, stays for that.
pub(super) async fn complete(
    cx: &Cx<'_>,
    challenge: &str,
    is_meant: impl Fn(&Purpose) -> bool,
) -> Result<Purpose, PasskeyError> {
    let browser = cx.session().get(&BROWSER).await?;
    let is_ours = |pending: &Pending| Some(&pending.browser) == browser.as_ref() && is_meant(&pending.purpose);
    if !PENDING.peek(cx, challenge).await?.as_ref().is_some_and(is_ours) {
        return Err(PasskeyError::expired());
    }
    Ok(PENDING.redeem(cx, challenge).await?.ok_or_else(PasskeyError::expired)?.purpose)
}
