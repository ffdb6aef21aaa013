//! Signing in with a second factor.

use std::time::Duration;

use super::account::{Account, SignedIn, now};
use super::event::{EventKind, record};
use super::sign_in::{ATTEMPTS, establish};
use super::token::sessions;
use super::totp::{Totp, hash_recovery_code};
use crate::cx::Cx;
use crate::guard::limit;
use crate::response::Result;
use crate::session::Key;

/// Who has passed the first factor, and when.
pub(super) const FIRST_FACTOR: Key<SignedIn> = Key::new("skep.first-factor");

/// How long the second factor may take.
const FIRST_FACTOR_LASTS: Duration = Duration::from_mins(10);

/// Longer than a code is taken.
const CODE_LASTS: Duration = Duration::from_mins(5);

/// An account may be tried with 5 codes, and then with one a minute.
const BY_ACCOUNT: limit::Pace = limit::Pace { burst: 5, each: Duration::from_mins(1) };

/// An account that may have a second factor: codes of an authenticator application.
///
/// [`Account::has_second_factor`] says whether it has, and an example is in the guide, `docs/guides/accounts.md`.
pub trait TotpAccount: Account {
    /// The secret that was [confirmed](confirm_totp), [sealed](Totp::seal), if there is one.
    fn sealed_totp(&self) -> Option<&str>;

    /// Deletes the recovery code with this hash, and says whether there was one: in one statement, such as
    /// `delete from recovery_code where user = ? and hash = ?`.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn take_recovery_code(&self, cx: &Cx<'_>, hash: &str) -> Result<bool>;
}

/// The account that has passed the first factor within ten minutes, and is asked for the second one: for the page with the form.
pub async fn awaiting_second_factor<A: Account>(cx: &Cx<'_>) -> Result<Option<A>> {
    let Some(first) = cx.session().get(&FIRST_FACTOR).await? else { return Ok(None) };
    let age = now(cx).saturating_sub(first.proved);
    if first.kind != A::KIND || u128::from(age) > FIRST_FACTOR_LASTS.as_millis() {
        return Ok(None);
    }
    Ok(A::find(cx, &first.id).await?.filter(|account| first.is_of(account)))
}

/// Signs in who has passed the first factor, by a code of the authenticator application or a recovery code: `None` if it is neither, or
/// was used before.
///
/// # Errors
/// Those of [`Account::refuse`] if nobody has passed the first factor. 429 if an account was tried 5 times in a while.
pub async fn second_factor_sign_in<A: TotpAccount>(cx: &mut Cx<'_>, code: &str) -> Result<Option<A>> {
    let Some(account) = awaiting_second_factor::<A>(cx).await? else { return Err(A::refuse(cx)) };
    let attempts = format!("second:{}:{}", A::KIND, account.id());
    limit::spend(cx, &ATTEMPTS, &attempts, BY_ACCOUNT).await?;
    let by_code = match account.sealed_totp().map(|sealed| Totp::open(cx, &account, sealed)) {
        Some(Ok(totp)) => confirm_totp(cx, &account, &totp, code).await?,
        Some(Err(error)) => {
            // Its user may still have a recovery code.
            tracing::error!(target: "skep::security", account = account.id(), %error, "this account's codes cannot be checked");
            false
        }
        None => false,
    };
    if !by_code {
        if !account.take_recovery_code(cx, &hash_recovery_code(code)).await? {
            record(cx, EventKind::SecondFactorRefused, Some(&account)).await;
            return Ok(None);
        }
        record(cx, EventKind::RecoveryCodeUsed, Some(&account)).await;
    }
    cx.cache(&ATTEMPTS).remove(&attempts).await?;
    establish(cx, &account, now(cx), EventKind::SignedIn).await?;
    Ok(Some(account))
}

/// True if this is the present code of a secret, or one of its neighbours', and was not used before. When a user sets up the second factor,
/// [seal](Totp::seal) and store the secret only then: who mistyped it would be locked out.
pub async fn confirm_totp<A: Account>(cx: &Cx<'_>, account: &A, totp: &Totp, code: &str) -> Result<bool> {
    let Some(step) = totp.step_of(code, now(cx) / 1000) else { return Ok(false) };
    // Who looks over a shoulder knows the code, too.
    sessions(cx).is_first(&format!("totp:{}:{}:{step}", A::KIND, account.id()), CODE_LASTS).await
}
