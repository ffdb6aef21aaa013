//! Remember-me: a cookie that signs a browser in again after its session has ended, with tokens that are used once.
//!
//! A device has a series, and the series has a token, which each use replaces. A token that was replaced and comes
//! again was copied: the thief has used it before its owner, or after. Nobody knows which of the two this is, so all
//! sessions and series of the account end.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::account::{Account, now};
use crate::device::{DEVICE, Device};
use crate::event::{EventKind, record};
use crate::random;
use crate::sign_in::{establish, owner, sign_out_everywhere};
use skep::Cookie;
use skep::Cx;
use skep::Result;
use skep::session::Key;
use skep::session::series::{self, REMEMBERED_FOR};

/// What a series remembers. It stands where sessions do, so that it ends with its user's.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Series {
    kind: String,
    id: String,
    /// [`Account::stamp`].
    stamp: String,
    /// Digests of the token, and of the one before.
    current: String,
    previous: String,
    /// When the token was replaced, in milliseconds since 1970.
    replaced: u64,
}

pub(crate) const SERIES: Key<Series> = Key::new("skep.series");

/// In a session: the series of its device.
pub(crate) const REMEMBERED_BY: Key<String> = Key::new("skep.remembered-by");

/// Requests that were sent together bring the same token.
const TOGETHER: Duration = Duration::from_mins(1);

/// What a token means for its series.
enum Verdict {
    Replaced,
    /// It was replaced a moment ago, by a request that was sent together with this one.
    Together,
    Copied,
}

/// Remembers this browser for 60 days of its last use: call it after signing in, if the user wants that. When the
/// session has ended, the guards of this module sign in again, without a [`Fresh`](crate::Fresh) proof.
/// [`sign_out`](crate::sign_out) forgets the browser, [`sign_out_everywhere`] and a new password all of the user's.
///
/// It matters where `session.idle` is shorter than that.
pub async fn remember<A: Account>(cx: &mut Cx<'_>, account: &A) -> Result<()> {
    forget(cx).await?;
    let token = new_token()?;
    let series = Series {
        kind: A::KIND.to_owned(),
        id: account.id(),
        stamp: account.stamp().to_text()?,
        current: digest(&token),
        previous: String::new(),
        replaced: now(cx),
    };
    let (id, handle) = series::Series::of(cx)
        .begin(&owner::<A>(&account.id()), &[SERIES.entry(&series)?, DEVICE.entry(&Device::of(cx))?])
        .await?;
    cx.session().set(&REMEMBERED_BY, &handle).await?;
    tell(cx, &id, &token);
    Ok(())
}

/// Forgets this browser.
pub(crate) async fn forget(cx: &Cx<'_>) -> Result<()> {
    let Some((id, _)) = brought(cx) else { return Ok(()) };
    series::Series::of(cx).end(id).await?;
    cx.send_cookie(&Cookie::removal(cookie_name(cx)));
    Ok(())
}

/// Forgets this browser if it is another user's.
pub(crate) async fn forget_another<A: Account>(cx: &Cx<'_>, account: &A) -> Result<()> {
    let Some((id, _)) = brought(cx) else { return Ok(()) };
    let is_own = series::Series::of(cx).owner(id).await?.is_some_and(|user| user == owner::<A>(&account.id()));
    if is_own { Ok(()) } else { forget(cx).await }
}

/// Signs in by the cookie, if there is one.
pub(crate) async fn sign_in_again<A: Account>(cx: &mut Cx<'_>) -> Result<Option<A>> {
    let Some((id, token)) = brought(cx) else { return Ok(None) };
    let (new, now, digest_of_old) = (new_token()?, now(cx), digest(token));
    let digest_of_new = digest(&new);
    let turned = series::Series::of(cx).change(id, &SERIES, move |series: &mut Series| {
        if series.kind != A::KIND {
            return None;
        }
        let verdict = series.verdict(&digest_of_old, now);
        if let Verdict::Replaced = verdict {
            series.previous = std::mem::replace(&mut series.current, digest_of_new.clone());
            series.replaced = now;
        }
        Some((series.clone(), verdict))
    });
    let Some((handle, answer)) = turned.await? else {
        cx.send_cookie(&Cookie::removal(cookie_name(cx)));
        return Ok(None);
    };
    let Some((series, verdict)) = answer else { return Ok(None) };
    let account = A::find(cx, &series.id).await?.filter(|account| series.is_of(account));
    let Some(account) = account else {
        forget(cx).await?;
        return Ok(None);
    };
    match verdict {
        Verdict::Replaced => tell(cx, id, &new),
        Verdict::Together => {}
        Verdict::Copied => {
            record(cx, EventKind::RememberMeReused, Some(&account)).await;
            sign_out_everywhere(cx, &account).await?;
            cx.send_cookie(&Cookie::removal(cookie_name(cx)));
            return Ok(None);
        }
    }
    // It is proved that this is the device, and not that it is the user.
    establish(cx, &account, 0, EventKind::Remembered).await?;
    cx.session().set(&REMEMBERED_BY, &handle).await?;
    Ok(Some(account))
}

impl Series {
    pub(crate) fn is_of<A: Account>(&self, account: &A) -> bool {
        self.kind == A::KIND && self.id == account.id() && account.stamp().matches(&self.stamp)
    }

    fn verdict(&self, token: &str, now: u64) -> Verdict {
        if token == self.current {
            Verdict::Replaced
        } else if token == self.previous && u128::from(now.saturating_sub(self.replaced)) <= TOGETHER.as_millis() {
            Verdict::Together
        } else {
            Verdict::Copied
        }
    }
}

/// Over TLS no other host, and nobody on the way, can set it.
fn cookie_name(cx: &Cx<'_>) -> &'static str {
    if cx.is_secure() { "__Host-skep-remember" } else { "skep-remember" }
}

/// The series and the token that the browser brings.
fn brought<'r>(cx: &Cx<'r>) -> Option<(&'r str, &'r str)> {
    cx.cookie(cookie_name(cx))?.split_once('.')
}

fn tell(cx: &Cx<'_>, series: &str, token: &str) {
    let cookie = Cookie::new(cookie_name(cx), format!("{series}.{token}")).max_age(REMEMBERED_FOR);
    cx.send_cookie(&cookie);
}

fn new_token() -> Result<String> {
    random::bytes::<24>().map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
}

/// Who reads the store learns no token.
fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
