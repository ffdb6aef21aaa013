//! A ceremony that has begun. Its challenge is a token of one use, which browsers send back inside of what is signed.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::account::Factor;
use super::error::PasskeyError;
use super::verify::Expected;
use crate::cx::Cx;
use crate::error::Error;
use crate::keys;
use crate::people::OneTimeToken;
use crate::people::link::knows_its_address;
use crate::people::sign_in::spend_of_address;
use crate::response::Result;
use crate::session::Key;

/// How long a user may take.
pub(super) const LASTS: Duration = Duration::from_mins(5);

const PENDING: OneTimeToken<Pending> = OneTimeToken::new("skep.passkey", LASTS);

/// Tells browsers apart that have begun a ceremony. It is in no response.
const BROWSER: Key<String> = Key::new("skep.passkey");

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
    /// Of the setting `base_url`: a passkey belongs to its host for ever.
    pub(super) fn of(cx: &Cx<'_>) -> Result<Self> {
        if !knows_its_address(cx) {
            return Err(Error::internal("passkeys need the setting `base_url`: anybody can write another `Host`"));
        }
        let origin = cx.origin();
        let uri: http::Uri = origin.parse().map_err(|_| Error::internal("the origin of this site is no URL"))?;
        let rp_id = uri.host().unwrap_or_default().to_owned();
        Ok(Self { origin, rp_id })
    }

    pub(super) fn expects<'a>(&'a self, challenge: &'a str, must_verify_user: bool) -> Expected<'a> {
        Expected { origin: &self.origin, rp_id: &self.rp_id, challenge, must_verify_user }
    }
}

/// A new challenge, of 192 bits (Web Authentication, 13.4.3, asks for 16 bytes).
pub(super) async fn challenge(cx: &Cx<'_>, purpose: Purpose) -> Result<String> {
    // What is begun is stored.
    spend_of_address(cx, "passkey").await?;
    let new = URL_SAFE_NO_PAD.encode(keys::random::<24>()?);
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
