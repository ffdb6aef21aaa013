//! The ceremonies: registering a passkey, and signing in with one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::account::{Factor, Passkey, PasskeyAccount};
use super::error::PasskeyError;
use super::key::ALGORITHMS;
use super::pending::{LASTS, Purpose, Site, challenge, complete};
use super::verify::{Assertion, Attestation, Sent, parse};
use crate::account::{Account, now};
use crate::budget::spend_of_address;
use crate::event::{EventKind, record};
use crate::second::awaiting_second_factor;
use crate::sign_in::{establish, owner};
use skep::Cx;
use skep::Error;
use skep::{Response, Result};

/// A user handle is no longer (Web Authentication, 5.4.3).
const LONGEST_HANDLE: usize = 64;

/// Begins to register a passkey of this account: the options for the browser, as JSON. Browsers show the `site`'s name.
/// Passkeys that the account has are left out. Let only those come here who are [`Fresh`](crate::Fresh): a passkey
/// opens the account for ever.
///
/// # Errors
/// 429 if one address (a /64 of IPv6) began 50 times in a while. 404 without `base_url` outside of
/// development, which says whose passkeys they are.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn begin_registration<A: PasskeyAccount>(
    cx: &Cx<'_>,
    account: &A,
    site: &str,
    factor: Factor,
) -> Result<Response> {
    let (owner, here) = (owner::<A>(&account.id()), Site::of(cx)?);
    if owner.len() > LONGEST_HANDLE {
        return Err(Error::internal(format!("{} bytes of the account's kind and id do not fit in 64", owner.len())));
    }
    let known = listed(&account.passkeys(cx).await?);
    let user = json!({
        "id": URL_SAFE_NO_PAD.encode(&owner), "name": account.name(), "displayName": account.name(),
    });
    let (key, verification) = match factor {
        Factor::First => ("required", "required"),
        Factor::Second => ("discouraged", "discouraged"),
    };
    let challenge = challenge(cx, Purpose::Register(owner, factor)).await?;
    Response::json(&json!({ "create": {
        "rp": { "id": here.rp_id, "name": site },
        "user": user,
        "challenge": challenge,
        "pubKeyCredParams": ALGORITHMS.map(|alg| json!({ "type": "public-key", "alg": alg })),
        "timeout": milliseconds(),
        "excludeCredentials": known,
        "authenticatorSelection": {
            "residentKey": key, "requireResidentKey": factor == Factor::First, "userVerification": verification,
        },
        "attestation": "none",
    } }))
}

/// Registers the passkey that the browser responded with, under the name that the user gave it.
///
/// # Errors
/// See [`PasskeyError`].
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn register<A: PasskeyAccount>(
    cx: &Cx<'_>,
    account: &A,
    name: &str,
    response: &str,
) -> Result<Passkey, PasskeyError> {
    let passkey = verified(cx, account, response).await.map_err(|error| error.in_language_of(cx))?;
    // Of this user or another one (7.1, step 26).
    if !account.add_passkey(cx, &passkey, name).await? {
        return Err(PasskeyError::registered().in_language_of(cx));
    }
    record(cx, EventKind::PasskeyAdded, Some(account)).await;
    Ok(passkey)
}

/// The passkey of a response, which is not stored yet.
async fn verified<A: Account>(cx: &Cx<'_>, account: &A, response: &str) -> Result<Passkey, PasskeyError> {
    let sent: Sent<Attestation> = parse(response)?;
    let (here, own) = (Site::of(cx)?, owner::<A>(&account.id()));
    let challenge = sent.response.client_data()?.challenge;
    let is_own = |purpose: &Purpose| matches!(purpose, Purpose::Register(owner, _) if *owner == own);
    let is_first = complete(cx, &challenge, is_own).await? == Purpose::Register(own.clone(), Factor::First);
    let new = sent.verify(&here.expects(&challenge, is_first))?;
    Ok(Passkey { id: new.id, public_key: new.public_key, counter: new.counter, verifies_user: new.verifies_user })
}

/// Removes a passkey of this account: false if it has no such passkey. The user's device may still offer it.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn remove_passkey<A: PasskeyAccount>(cx: &Cx<'_>, account: &A, id: &str) -> Result<bool> {
    let removed = account.delete_passkey(cx, id).await?;
    if removed {
        record(cx, EventKind::PasskeyRemoved, Some(account)).await;
    }
    Ok(removed)
}

/// Begins to sign in somebody whom the passkey will name: the options for the browser, as JSON. Errors are those of
/// [`begin_registration`].
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn begin_sign_in(cx: &Cx<'_>) -> Result<Response> {
    options(cx, Purpose::SignIn, &[], "required").await
}

/// Signs in by what the browser responded with. The authenticator has verified its user, so that the passkey is two
/// factors in one, and no other [second factor](Account::has_second_factor) is asked for. The user is
/// [`Fresh`](crate::Fresh) then, and was perhaps signed in before.
///
/// # Errors
/// See [`PasskeyError`]. Each is among the security events, too. 429 if one address completed 50 times in a while.
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn passkey_sign_in<A: PasskeyAccount>(cx: &mut Cx<'_>, response: &str) -> Result<A, PasskeyError> {
    spend_of_address(cx, "passkey-response").await?;
    match first_factor::<A>(cx, response).await {
        Ok(account) => {
            establish(cx, &account, now(cx), EventKind::SignedIn).await?;
            Ok(account)
        }
        Err(error) => {
            record::<A>(cx, EventKind::SignInRefused, None).await;
            Err(error.in_language_of(cx))
        }
    }
}

/// Begins to ask for a passkey as the second factor of the account that has passed the first one: the options for the
/// browser, as JSON.
///
/// # Errors
/// Those of [`Account::refuse`] if nobody has passed the first factor, and those of [`begin_registration`].
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn begin_second_factor<A: PasskeyAccount>(cx: &Cx<'_>) -> Result<Response> {
    let Some(account) = awaiting_second_factor::<A>(cx).await? else { return Err(A::refuse(cx)) };
    let known = account.passkeys(cx).await?;
    options(cx, Purpose::SecondFactor(owner::<A>(&account.id())), &known, "discouraged").await
}

/// Signs in who has passed the first factor, by a passkey that the account has.
///
/// # Errors
/// Those of [`Account::refuse`] if nobody has passed the first factor, and those of [`passkey_sign_in`].
///
/// An example is in the guide, `docs/guides/people/passkeys.md`.
pub async fn passkey_second_factor<A: PasskeyAccount>(cx: &mut Cx<'_>, response: &str) -> Result<A, PasskeyError> {
    spend_of_address(cx, "passkey-response").await?;
    let Some(account) = awaiting_second_factor::<A>(cx).await? else { return Err(A::refuse(cx).into()) };
    if let Err(error) = second_factor(cx, &account, response).await {
        record(cx, EventKind::SecondFactorRefused, Some(&account)).await;
        return Err(error.in_language_of(cx));
    }
    establish(cx, &account, now(cx), EventKind::SignedIn).await?;
    Ok(account)
}

async fn first_factor<A: PasskeyAccount>(cx: &Cx<'_>, response: &str) -> Result<A, PasskeyError> {
    let sent: Sent<Assertion> = parse(response)?;
    let here = Site::of(cx)?;
    let challenge = sent.response.client_data()?.challenge;
    complete(cx, &challenge, |purpose| *purpose == Purpose::SignIn).await?;
    let id = sent.response.user_handle.as_deref().and_then(account_id::<A>).ok_or("the response names no user")?;
    let account = A::find(cx, &id).await?.ok_or("there is no such account, or it is locked")?;
    let passkey = own(cx, &account, &sent).await?;
    // A PIN that a security key was given later may be a thief's (7.2, step 24).
    if !passkey.verifies_user {
        return Err(PasskeyError::refused("this passkey is a second factor only"));
    }
    let counter = sent.verify(&here.expects(&challenge, true), &passkey)?;
    count(cx, &account, &passkey, counter).await?;
    Ok(account)
}

async fn second_factor<A: PasskeyAccount>(cx: &Cx<'_>, account: &A, response: &str) -> Result<(), PasskeyError> {
    let sent: Sent<Assertion> = parse(response)?;
    let here = Site::of(cx)?;
    let (challenge, purpose) =
        (sent.response.client_data()?.challenge, Purpose::SecondFactor(owner::<A>(&account.id())));
    complete(cx, &challenge, |pending| *pending == purpose).await?;
    // A handle may be missing, as the account is known (7.2, step 6).
    let handle = sent.response.user_handle.as_deref();
    if handle.is_some_and(|handle| account_id::<A>(handle) != Some(account.id())) {
        return Err(PasskeyError::refused("the response names another user"));
    }
    let passkey = own(cx, account, &sent).await?;
    let counter = sent.verify(&here.expects(&challenge, false), &passkey)?;
    count(cx, account, &passkey, counter).await
}

/// The passkey of this account that a response names (7.2, steps 5 and 6).
async fn own<A: PasskeyAccount>(cx: &Cx<'_>, account: &A, sent: &Sent<Assertion>) -> Result<Passkey, PasskeyError> {
    let passkeys = account.passkeys(cx).await?;
    Ok(passkeys.into_iter().find(|passkey| passkey.id == sent.id).ok_or("the account has no such passkey")?)
}

/// Refuses a counter that did not go up: of two copies, one lags behind (7.2, step 22). Authenticators that do not
/// count send 0.
async fn count<A: PasskeyAccount>(
    cx: &Cx<'_>,
    account: &A,
    passkey: &Passkey,
    counter: u32,
) -> Result<(), PasskeyError> {
    if counter == 0 && passkey.counter == 0 {
        return Ok(());
    }
    if counter > passkey.counter && account.raise_passkey_counter(cx, &passkey.id, counter).await? {
        return Ok(());
    }
    record(cx, EventKind::PasskeyCopied, Some(account)).await;
    Err(PasskeyError::copied())
}

async fn options(cx: &Cx<'_>, purpose: Purpose, known: &[Passkey], verification: &str) -> Result<Response> {
    let here = Site::of(cx)?;
    let challenge = challenge(cx, purpose).await?;
    Response::json(&json!({ "get": {
        "rpId": here.rp_id,
        "challenge": challenge,
        "timeout": milliseconds(),
        "allowCredentials": listed(known),
        "userVerification": verification,
    } }))
}

fn listed(passkeys: &[Passkey]) -> Vec<Value> {
    passkeys.iter().map(|passkey| json!({ "type": "public-key", "id": passkey.id })).collect()
}

/// The account that a user handle names.
fn account_id<A: Account>(handle: &str) -> Option<String> {
    let handle = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
    handle.strip_prefix(&owner::<A>("")).map(ToOwned::to_owned)
}

fn milliseconds() -> u64 {
    LASTS.as_secs() * 1000
}
