//! Signing in with a second factor.

use std::time::Duration;

use skep::cache::Pace;

use crate::account::{Account, SIGNED_IN, SignedIn, now, speak_to};
use crate::budget::clear_of_account;
use crate::event::{EventKind, record};
use crate::known;
use crate::sign_in::{establish, spend_of_account};
use crate::totp::{Totp, hash_recovery_code};
use skep::Cx;
use skep::Result;
use skep::guard::Count;
use skep::session::Key;

/// Who has passed the first factor, and when.
pub(crate) const FIRST_FACTOR: Key<SignedIn> = Key::new("skep.first-factor");

/// How long the second factor may take.
const FIRST_FACTOR_LASTS: Duration = Duration::from_mins(10);

/// Longer than a code is taken.
const CODE_LASTS: Duration = Duration::from_mins(5);

/// Wrong codes after which the first factor has to be proved again.
const MOST_WRONG: u32 = 5;

/// An account may be tried with 5 codes, and then with one a minute; after 10 with one in 10 minutes, and after 20 with
/// one an hour. That is 44 in a day, of a million.
const BY_ACCOUNT: [Pace; 3] = [
    Pace { burst: 5, each: Duration::from_mins(1) },
    Pace { burst: 10, each: Duration::from_mins(10) },
    Pace { burst: 20, each: Duration::from_hours(1) },
];

/// In a session: how many codes were wrong.
const WRONG_CODES: Key<u32> = Key::new("skep.wrong-codes");

/// An account that may have a second factor: codes of an authenticator application.
///
/// [`Account::has_second_factor`] says whether it has, and an example is in the guide,
/// `docs/guides/people/sign-up.md`.
pub trait TotpAccount: Account {
    /// The secret that was [confirmed](confirm_totp), [sealed](Totp::seal), if there is one.
    fn sealed_totp(&self) -> Option<&str>;

    /// Deletes the recovery code with this hash, and says whether there was one: in one statement, such as
    /// `delete from recovery_code where user = ? and hash = ?`.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn take_recovery_code(&self, cx: &Cx<'_>, hash: &str) -> Result<bool>;
}

/// The account that has passed the first factor within ten minutes, and is asked for the second one: for the page with
/// the form.
pub async fn awaiting_second_factor<A: Account>(cx: &Cx<'_>) -> Result<Option<A>> {
    let Some(first) = cx.session().get(&FIRST_FACTOR).await? else { return Ok(None) };
    let age = now(cx).saturating_sub(first.proved);
    if first.kind != A::KIND || u128::from(age) > FIRST_FACTOR_LASTS.as_millis() {
        return Ok(None);
    }
    let account = A::find(cx, &first.id).await?.filter(|account| first.is_of(account));
    if let Some(account) = &account {
        speak_to(cx, account);
    }
    Ok(account)
}

/// Signs in who has passed the first factor, by a code of the authenticator application or a recovery code: `None` if
/// it is neither, or was used before.
///
/// # Errors
/// Those of [`Account::refuse`] if nobody has passed the first factor, within ten minutes and before five wrong codes:
/// then its owner gets a mail. 429 if the codes of an account were tried 5 times in a while; a browser that has signed
/// in to it before has 5 tries of its own.
pub async fn second_factor_sign_in<A: TotpAccount>(cx: &mut Cx<'_>, code: &str) -> Result<Option<A>> {
    let Some(account) = awaiting_second_factor::<A>(cx).await? else { return Err(A::refuse(cx)) };
    let counts = spend(cx, "second", &account).await?;
    let by_code = match account.sealed_totp().map(|sealed| Totp::open(cx, &account, sealed)) {
        Some(Ok(totp)) => is_code(cx, &account, &totp, code).await?,
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
            if was_last_code(cx).await? {
                cx.session().remove(&FIRST_FACTOR).await?;
                record(cx, EventKind::CodesGuessed, Some(&account)).await;
            }
            return Ok(None);
        }
        record(cx, EventKind::RecoveryCodeUsed, Some(&account)).await;
    }
    clear_of_account(cx, &counts).await?;
    cx.session().remove(&WRONG_CODES).await?;
    establish(cx, &account, now(cx), EventKind::SignedIn).await?;
    Ok(Some(account))
}

/// True if this is the present code of a secret, or one of its neighbours', and was not used before. When a user sets
/// up the second factor, [seal](Totp::seal) and store the secret only then: who mistyped it would be locked out. The
/// owner of the account is notified that it has a second factor.
///
/// # Errors
/// 429 if the codes of this account were tried 5 times in a while. After five wrong ones, a [`Fresh`](crate::Fresh)
/// proof is asked for again.
pub async fn confirm_totp<A: Account>(cx: &Cx<'_>, account: &A, totp: &Totp, code: &str) -> Result<bool> {
    let counts = spend(cx, "confirm", account).await?;
    if is_code(cx, account, totp, code).await? {
        clear_of_account(cx, &counts).await?;
        cx.session().remove(&WRONG_CODES).await?;
        if !account.has_second_factor() {
            record(cx, EventKind::SecondFactorAdded, Some(account)).await;
        }
        return Ok(true);
    }
    record(cx, EventKind::SecondFactorRefused, Some(account)).await;
    if was_last_code(cx).await? {
        if let Some(signed_in) = cx.session().get(&SIGNED_IN).await? {
            cx.session().set(&SIGNED_IN, &SignedIn { proved: 0, ..signed_in }).await?;
        }
        if account.has_second_factor() {
            record(cx, EventKind::CodesGuessed, Some(account)).await;
        }
    }
    Ok(false)
}

/// A browser that has signed in to this account before has counters of its own.
async fn spend<A: Account>(cx: &Cx<'_>, what: &str, account: &A) -> Result<Vec<Count>> {
    let device =
        known::device(cx, &known::mark_of_account(A::KIND, &account.id(), &account.stamp())?).unwrap_or_default();
    spend_of_account(cx, &format!("{what}:{}:{}#{device}", A::KIND, account.id()), &BY_ACCOUNT, account).await
}

/// Notes a wrong code in the session, and says whether it was the last one.
async fn was_last_code(cx: &Cx<'_>) -> Result<bool> {
    let wrong = cx.session().get(&WRONG_CODES).await?.unwrap_or(0) + 1;
    if wrong < MOST_WRONG {
        cx.session().set(&WRONG_CODES, &wrong).await?;
        return Ok(false);
    }
    cx.session().remove(&WRONG_CODES).await?;
    Ok(true)
}

async fn is_code<A: Account>(cx: &Cx<'_>, account: &A, totp: &Totp, code: &str) -> Result<bool> {
    let Some(step) = totp.step_of(code, now(cx) / 1000) else { return Ok(false) };
    // Who looks over a shoulder knows the code, too.
    cx.is_first(&format!("totp:{}:{}:{step}", A::KIND, account.id()), CODE_LASTS).await
}
