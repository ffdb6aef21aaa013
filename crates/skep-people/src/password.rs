//! Passwords: hashed with argon2id (RFC 9106), on the pool for blocking work, never more at once than there are cores.
//!
//! One password is the same whichever keyboard it is typed on: it is normalised first, by the profile `OpaqueString`
//! (RFC 8265, 4.2.2).

use std::borrow::Cow;

use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use argon2::{Algorithm, Argon2, Params, Version};
use http::{HeaderValue, StatusCode, header};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::cost::{Costs, PasswordCost};
use crate::gate;
use crate::messages::AccountMessages;
use crate::random;
use skep::Cx;
use skep::Error;
use skep::Result;

/// A longer password is refused before it is hashed, in bytes.
const LONGEST: usize = 4096;

/// No secret: it makes two hashes of one password differ.
pub(crate) type Salt = [u8; 16];

/// Hashes a password for the database: a text that says algorithm, cost and salt (`$argon2id$v=19$...`).
///
/// What different keyboards and systems send for one letter is one password: it is normalised (RFC 8265, 4.2.2).
///
/// # Errors
/// 503 with `Retry-After` if too many passwords are being hashed; 413 for a password of more than 4096 bytes, and 422
/// for an empty one.
///
/// ```
/// use skep_people::{hash_password, verify_password};
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let hash = hash_password(cx, "correct horse").await?;
///         assert!(verify_password(cx, "correct horse", Some(&hash)).await?);
///         assert!(!verify_password(cx, "battery staple", Some(&hash)).await?);
///         Ok(Response::text(hash.chars().take(9).collect::<String>()))
///     }
/// }
/// assert_eq!(skep::test::Client::new(App::new().serve(services![Index])).get("/").text(), "$argon2id");
/// ```
pub async fn hash_password(cx: &Cx<'_>, password: &str) -> Result<String> {
    let (params, password) = (cost(cx).params()?, to_hash(password, &AccountMessages::of(cx))?);
    on_pool(cx, move || hash_with(params, &password, &salt()?)).await?
}

/// Hashes the password of this hash once more, at the present cost. The salt stays, so that nothing ends that a new
/// password ends.
pub(crate) async fn hash_again(cx: &Cx<'_>, password: &str, hash: &str) -> Result<String> {
    let known = PasswordHash::new(hash).ok().and_then(|hash| hash.salt.map(|salt| salt.to_vec()));
    let Some(salt) = known else { return hash_password(cx, password).await };
    let (params, password) = (cost(cx).params()?, to_hash(password, &AccountMessages::of(cx))?);
    on_pool(cx, move || hash_with(params, &password, &salt)).await?
}

/// True if this is the password that the hash was made of. Without a hash, as much time is taken as most hashes take,
/// whatever the cost of new ones: how long a sign-in takes does not tell whether there is such an account. An
/// invalid hash is an error.
///
/// An example and the errors are at [`hash_password`].
pub async fn verify_password(cx: &Cx<'_>, password: &str, hash: Option<&str>) -> Result<bool> {
    Ok(verify(cx, password, hash).await? != Verdict::Wrong)
}

/// What a password is for a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// Right as it was typed: the hash was made before passwords were normalised.
    AsTyped,
    Wrong,
}

/// The same, and how it is right.
pub(crate) async fn verify(cx: &Cx<'_>, password: &str, hash: Option<&str>) -> Result<Verdict> {
    let costs = cx.state_or_default::<Costs>();
    let params = match hash.and_then(cost_of) {
        Some(cost) => costs.note(cost).params()?,
        None => costs.usual().unwrap_or_else(|| cost(cx)).params()?,
    };
    checked(password)?;
    let normalised = normalise(password).into_owned();
    let typed = (normalised != password).then(|| password.to_owned());
    let stored = hash.map(str::to_owned);
    on_pool(cx, move || {
        let is_right = |password: &str| is_of(params.clone(), password, stored.as_deref());
        if is_right(&normalised)? {
            return Ok(Verdict::Right);
        }
        match typed {
            Some(typed) if is_right(&typed)? => Ok(Verdict::AsTyped),
            _ => Ok(Verdict::Wrong),
        }
    })
    .await?
}

/// True if the hash was made of this password, to the byte. Without one, it takes as long.
fn is_of(params: Params, password: &str, stored: Option<&str>) -> Result<bool> {
    let Some(stored) = stored else { return hash_with(params, password, &salt()?).map(|_| false) };
    match argon2(params).verify_password(password.as_bytes(), stored) {
        Ok(()) => Ok(true),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        // The hash itself belongs in no log.
        Err(error) => Err(Error::internal(format!("a stored password hash cannot be read: {error}"))),
    }
}

/// What a hash cost.
fn cost_of(hash: &str) -> Option<PasswordCost> {
    let made = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok())?;
    Some(PasswordCost { memory: made.m_cost(), passes: made.t_cost(), lanes: made.p_cost() })
}

/// True if a hash was made at another cost than passwords are hashed at now.
pub(crate) fn is_outdated(cx: &Cx<'_>, hash: &str) -> bool {
    cost_of(hash).is_some_and(|made| made != cost(cx))
}

fn cost(cx: &Cx<'_>) -> PasswordCost {
    cx.find_state().copied().unwrap_or_default()
}

fn checked(password: &str) -> Result<()> {
    if password.len() > LONGEST { Err(Error::too_large(LONGEST as u64)) } else { Ok(()) }
}

/// What is hashed of a new password.
fn to_hash(password: &str, messages: &AccountMessages) -> Result<String> {
    checked(password)?;
    if password.is_empty() {
        let error = Error::new(StatusCode::UNPROCESSABLE_ENTITY);
        return Err(error
            .with_message(messages.empty_password)
            .with_cause("a password has at least one character (RFC 8265, 4.2.2)"));
    }
    Ok(normalise(password).into_owned())
}

/// The form of a password that is compared: every space is U+0020, and letters are composed (NFC). Neither changes
/// ASCII.
fn normalise(password: &str) -> Cow<'_, str> {
    if password.is_ascii() || (is_nfc(password) && !password.contains(is_other_space)) {
        return Cow::Borrowed(password);
    }
    password.chars().map(|sign| if is_other_space(sign) { ' ' } else { sign }).nfc().collect::<String>().into()
}

/// The general category `Zs`, without the space itself.
fn is_other_space(sign: char) -> bool {
    matches!(sign, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

async fn on_pool<T: Send + 'static>(cx: &Cx<'_>, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let Some(permit) = gate::enter().await else {
        return Err(Error::new(StatusCode::SERVICE_UNAVAILABLE)
            .with_message(AccountMessages::of(cx).busy)
            .with_header(header::RETRY_AFTER, HeaderValue::from_static("5"))
            .with_cause("the queue for hashing passwords"));
    };
    cx.offload(move || {
        let _permit = permit;
        work()
    })
    .await
}

/// Without a request, and without a turn: [`HashPassword`](crate::HashPassword).
pub(crate) fn hash_now(cost: PasswordCost, password: &str, salt: &Salt) -> Result<String> {
    hash_with(cost.params()?, &to_hash(password, &AccountMessages::ENGLISH)?, salt)
}

/// A new salt.
pub(crate) fn salt() -> Result<Salt> {
    random::bytes()
}

fn hash_with(params: Params, password: &str, salt: &[u8]) -> Result<String> {
    let hash = argon2(params).hash_password_with_salt(password.as_bytes(), salt);
    hash.map(|hash| hash.to_string()).map_err(|error| Error::internal(format!("a password cannot be hashed: {error}")))
}

fn argon2(params: Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

#[cfg(test)]
#[path = "../tests/unit/password.rs"]
mod tests;
