//! Tokens that are used once, for links in mails.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::context::cx::Cx;
use crate::security::keys;
use skep_http::error::Error;
use skep_http::response::Result;

use super::store::Sessions;

/// 192 bits that nobody guesses.
const BYTES: usize = 24;

/// A kind of token that stands for a value and is redeemed once: for invitations, and for links in mails.
///
/// ```
/// use std::time::Duration;
/// use skep::prelude::*;
/// use skep::session::OneTimeToken;
///
/// const INVITATION: OneTimeToken<u32> = OneTimeToken::new("invitation", Duration::from_hours(48));
///
/// #[derive(Service)]
/// #[service(GET "/invite/{team}")]
/// struct Invite { team: u32 }
///
/// impl Handle for Invite {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(INVITATION.issue(cx, &self.team).await?))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/join/{token}")]
/// struct Join { token: String }
///
/// impl Handle for Join {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let team = INVITATION.redeem(cx, &self.token).await?.or_404()?;
///         Ok(Response::text(format!("welcome to team {team}")))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Invite, Join]));
/// let join = format!("/join/{}", client.get("/invite/7").text());
/// assert_eq!(client.post(&join, &[]).text(), "welcome to team 7");
/// assert_eq!(client.post(&join, &[]).status(), 404);
/// ```
///
/// Redeem it in a service for POST, behind a page with a button: programs that look at mail open every link in it.
///
/// Tokens are stored beside the sessions, as digests. So they hold on all processes, and on all machines that share the
/// store of sessions; a token that was lost there is refused. [`Cx::seal`] is for what may be used any number of times.
pub struct OneTimeToken<T> {
    name: &'static str,
    lasts: Duration,
    types: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> OneTimeToken<T> {
    /// A name belongs to one type. See [`OneTimeToken`] for an example.
    #[must_use]
    pub const fn new(name: &'static str, lasts: Duration) -> Self {
        Self { name, lasts, types: PhantomData }
    }

    /// Makes a token for a value: 32 letters, digits, `-` and `_`.
    pub async fn issue(&self, cx: &Cx<'_>, value: &T) -> Result<String> {
        let token = URL_SAFE_NO_PAD.encode(keys::random::<BYTES>()?);
        sessions(cx).keep_token(&self.key(&token), serde_json::to_string(value)?, self.lasts).await?;
        Ok(token)
    }

    /// The value of a token that can be redeemed; it stays so. For the page with the button.
    pub async fn peek(&self, cx: &Cx<'_>, token: &str) -> Result<Option<T>> {
        if !is_token(token) {
            return Ok(None);
        }
        let value = sessions(cx).see_token(&self.key(token)).await?;
        value.as_deref().map(Self::decode).transpose()
    }

    /// The value of a token, for one of those who bring it at the same time, and for nobody after.
    pub async fn redeem(&self, cx: &Cx<'_>, token: &str) -> Result<Option<T>> {
        if !is_token(token) {
            return Ok(None);
        }
        let value = sessions(cx).take_token(&self.key(token)).await?;
        value.as_deref().map(Self::decode).transpose()
    }

    fn key(&self, token: &str) -> String {
        format!("{}:{token}", self.name)
    }

    fn decode(text: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|_| Error::internal("a token was issued for a value of another type"))
    }
}

impl<T> fmt::Debug for OneTimeToken<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OneTimeToken").field(&self.name).finish()
    }
}

fn sessions<'r>(cx: &Cx<'r>) -> &'r Sessions {
    &cx.shared().resources().shared().sessions
}

/// What is no token is not looked up.
fn is_token(text: &str) -> bool {
    text.len() == BYTES / 3 * 4 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}
