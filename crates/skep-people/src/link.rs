//! Links in mails: to sign up, to sign in, to reset a password, to confirm an address.
//!
//! Each request for a link is answered the same whether or not there is such an account, and does the same work: the
//! account is looked for, a token is stored, a mail is written and put into the queue. For nobody, the token opens
//! nothing and the mail is dropped there. What still differs is hidden by [`wait_for_tick`].

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use skep::cache::Pace;

use crate::account::Account;
use crate::budget::MAILS;
use crate::budget::{self, Budget, spend_of_address};
use crate::event::{EventKind, notify, record};
use crate::known::{self, digest};
use crate::messages::AccountMessages;
use crate::password::hash_password;
use crate::sign_in::{PasswordAccount, SIGNED_UP, note_name, sign_in, sign_out_everywhere, spend_attempt};
use crate::stamp::Stamp;
use crate::tick::wait_for_tick;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::mail::{Mail, Mailbox};
use skep::session::OneTimeToken;

/// An account with an e-mail address. [`derive(Account)`](derive@crate::Account) writes it where there is a field
/// `email`; by hand it is:
///
/// ```
/// use skep::prelude::*;
/// use skep::sql::{Row, query};
/// use skep_people::MailAccount;
/// # use skep_people::{Account, Stamp};
///
/// #[derive(Row)]
/// struct User { id: i64, email: String, random: String }
/// # impl Account for User {
/// #     fn id(&self) -> String { self.id.to_string() }
/// #     fn name(&self) -> &str { &self.email }
/// #     fn stamp(&self) -> Stamp { Stamp::of([&self.random]) }
/// #     async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
/// #         Ok(cx.db().one(query("select id, email, random from user where id = ? and not locked", id)).await?)
/// #     }
/// # }
///
/// impl MailAccount for User {
///     // Locked ones, too: otherwise their addresses sign up again.
///     async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>> {
///         let email = email.trim().to_lowercase();
///         Ok(cx.db().one(query("select id, email, random from user where email = ?", email)).await?)
///     }
///
///     fn email(&self) -> &str { &self.email }
/// }
/// ```
pub trait MailAccount: Account {
    /// The account with this address, as it was typed.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>>;

    /// Its address. Mails go here, and never to what was typed, which may only look the same to the database.
    fn email(&self) -> &str;
}

/// What a link of an account stands for.
#[derive(Serialize, Deserialize)]
struct Proof {
    /// [`Account::KIND`], or [`NOBODY`].
    kind: String,
    id: String,
    /// The address that it was sent to.
    email: String,
    /// [`Account::stamp`], and the salt of the password: a link of before a new one opens nothing.
    stamp: String,
}

/// The kind of account in a token that opens nothing, and is as long as others.
const NOBODY: &str = "none";

const SIGN_IN: OneTimeToken<Proof> = OneTimeToken::new("skep.sign-in", Duration::from_mins(15));
const RESET: OneTimeToken<Proof> = OneTimeToken::new("skep.reset", Duration::from_hours(1));
const CONFIRM: OneTimeToken<(Proof, String)> = OneTimeToken::new("skep.confirm", Duration::from_hours(24));
/// The kind of account, and the address.
const SIGN_UP: OneTimeToken<(String, String)> = OneTimeToken::new("skep.sign-up", Duration::from_hours(24));

/// Mails of one kind: each has a budget of its own, so that nobody shuts one way in by another.
const fn mails(what: &'static str) -> Budget {
    Budget {
        store: &MAILS,
        what,
        address: Pace { burst: 30, each: Duration::from_mins(1) },
        near: Pace { burst: 5, each: Duration::from_mins(30) },
        wide: Pace { burst: 20, each: Duration::from_mins(10) },
        device: Pace { burst: 5, each: Duration::from_mins(10) },
        event: EventKind::LinkThrottled,
    }
}

static SIGN_IN_MAILS: Budget = mails("sign-in");
static RESET_MAILS: Budget = mails("reset");
static SIGN_UP_MAILS: Budget = mails("sign-up");
static CONFIRM_MAILS: Budget = mails("confirm");
static CHANGE_MAILS: Budget = mails("change");

/// Sends a link that signs in (a magic link), if there is an account with this address. It lasts 15 minutes and works
/// once. `mail` writes the mail from the address that it goes to and the token. The response must not depend on
/// anything but success.
///
/// # Errors
/// 422 for what is not an e-mail address alone. 429 if too many mails were asked for, to this address or from this
/// network. 500 without `base_url` outside of development: links would lead wherever the client's `Host` says.
pub async fn send_sign_in_link<A: MailAccount>(
    cx: &Cx<'_>,
    email: &str,
    mail: impl FnOnce(&str, &str) -> Mail,
) -> Result<()> {
    send_link(cx, &SIGN_IN, &SIGN_IN_MAILS, email, A::stamp, mail).await
}

/// Signs in by the token of a [sign-in link](send_sign_in_link): `None` if it is invalid, was used, or has expired.
/// Only in a service for POST: programs that look at mail open each link.
pub async fn redeem_sign_in_link<A: MailAccount>(cx: &mut Cx<'_>, token: &str) -> Result<Option<A>> {
    let proof = SIGN_IN.redeem(cx, token).await?;
    let account = prove(cx, proof, A::stamp).await?;
    if let Some(account) = &account {
        sign_in(cx, account).await?;
        note_name(cx, account, account.email())?;
    }
    Ok(account)
}

/// Sends a link that resets the password, if there is an account with this address. It lasts an hour, works once, and
/// not any more once the password has changed. Arguments and errors are those of [`send_sign_in_link`].
pub async fn send_reset_link<A: MailAccount + PasswordAccount>(
    cx: &Cx<'_>,
    email: &str,
    mail: impl FnOnce(&str, &str) -> Mail,
) -> Result<()> {
    send_link(cx, &RESET, &RESET_MAILS, email, stamp::<A>, mail).await
}

/// The account whose password the token of a [reset link](send_reset_link) sets, if it can be redeemed: for the page
/// with the form, and for the [`weakness`](crate::weakness) of what is chosen.
pub async fn reset_link_account<A: MailAccount + PasswordAccount>(cx: &Cx<'_>, token: &str) -> Result<Option<A>> {
    let proof = RESET.peek(cx, token).await?;
    find_proved(cx, proof, stamp::<A>).await
}

/// Sets the password by the token of a [reset link](send_reset_link), and ends all sessions of the user: `None` if it
/// is invalid, was used, or has expired. It does not sign in, which would be a way around the second factor. Check the
/// new password's [`weakness`](crate::weakness) before.
pub async fn redeem_reset_link<A: MailAccount + PasswordAccount>(
    cx: &mut Cx<'_>,
    token: &str,
    password: &str,
) -> Result<Option<A>> {
    // Hashing takes a core's time, and what it ends in may be a 503: not for every text, and not with a token that is
    // gone then.
    if reset_link_account::<A>(cx, token).await?.is_none() {
        refuse::<A>(cx, None).await?;
        return Ok(None);
    }
    let hash = hash_password(cx, password).await?;
    let proof = RESET.redeem(cx, token).await?;
    let Some(account) = prove(cx, proof, stamp::<A>).await? else { return Ok(None) };
    account.set_password_hash(cx, &hash).await?;
    record(cx, EventKind::PasswordReset, Some(&account)).await;
    sign_out_everywhere(cx, &account).await?;
    // With the new password, so that it can be signed in.
    Ok(Some(A::find(cx, &account.id()).await?.unwrap_or(account)))
}

/// Sends a link with which somebody signs up, or, to an address that has an account, a mail that says so: `mail` gets
/// the address, and the token for a new one. It lasts 24 hours and works once. Errors are those of
/// [`send_sign_in_link`].
///
/// The account is made when the link is opened, and its password is chosen then: somebody who signs up with an address
/// that is not theirs leaves nothing behind, and no password for its owner to confirm.
pub async fn send_sign_up_link<A: MailAccount>(
    cx: &Cx<'_>,
    email: &str,
    mail: impl FnOnce(&str, Option<&str>) -> Mail,
) -> Result<()> {
    may_send::<A>(cx, &SIGN_UP_MAILS, email, true).await?;
    let begun = Instant::now();
    let account = A::find_by_email(cx, email).await?;
    let kind = if account.is_some() { "" } else { A::KIND };
    let token = SIGN_UP.issue(cx, &(kind.to_owned(), email.to_owned())).await?;
    let to = account.as_ref().map_or(email, A::email).to_owned();
    let mail = in_language_of(cx, account.as_ref(), || mail(&to, account.is_none().then_some(&*token)));
    cx.queue_mail(addressed(mail, &to));
    record(cx, EventKind::LinkRequested, account.as_ref()).await;
    wait_for_tick(cx, begun).await;
    Ok(())
}

/// The address of a [sign-up link](send_sign_up_link) that can be redeemed: for the page that asks for a password.
pub async fn sign_up_address<A: MailAccount>(cx: &Cx<'_>, token: &str) -> Result<Option<String>> {
    Ok(SIGN_UP.peek(cx, token).await?.filter(|(kind, _)| kind == A::KIND).map(|(_, email)| email))
}

/// Redeems a [sign-up link](send_sign_up_link): the address, which is confirmed by it. The application makes the
/// account then, and [signs it in](sign_in).
pub async fn redeem_sign_up_link<A: MailAccount>(cx: &Cx<'_>, token: &str) -> Result<Option<String>> {
    let redeemed = SIGN_UP.redeem(cx, token).await?;
    let email = redeemed.filter(|(kind, _)| kind == A::KIND).map(|(_, email)| email);
    let Some(email) = email else {
        refuse::<A>(cx, None).await?;
        return Ok(None);
    };
    cx.session().set(&SIGNED_UP, &digest(&email)).await?;
    record::<A>(cx, EventKind::AddressConfirmed, None).await;
    Ok(Some(email))
}

/// Sends a link that confirms an address of an account: its own, or one that it is to have. It lasts 24 hours and works
/// once. The arguments of `mail` and the errors are those of [`send_sign_in_link`].
///
/// Who changes an address takes over the account in the end: ask for a [`Fresh`](crate::Fresh) proof, and tell the old
/// address.
pub async fn send_confirmation_link<A: MailAccount>(
    cx: &Cx<'_>,
    account: &A,
    email: &str,
    mail: impl FnOnce(&str, &str) -> Mail,
) -> Result<()> {
    // A user could have mail sent to anybody: no browser is known to these addresses.
    let budget = if email == account.email() { &CONFIRM_MAILS } else { &CHANGE_MAILS };
    may_send::<A>(cx, budget, email, false).await?;
    let token = CONFIRM.issue(cx, &(Proof::of(account, &account.stamp())?, email.to_owned())).await?;
    cx.queue_mail(addressed(mail(email, &token), email));
    record(cx, EventKind::LinkRequested, Some(account)).await;
    Ok(())
}

/// Redeems a [confirmation link](send_confirmation_link): the account, and the address that is confirmed by it, for the
/// application to store. The old address gets a [`Notice`](crate::Notice) of another one. `None` if it is unknown, was
/// used, has expired, or the account has another address by now.
pub async fn redeem_confirmation_link<A: MailAccount>(cx: &Cx<'_>, token: &str) -> Result<Option<(A, String)>> {
    let (proof, email) = CONFIRM.redeem(cx, token).await?.unzip();
    let Some(account) = prove(cx, proof, A::stamp).await? else { return Ok(None) };
    record(cx, EventKind::AddressConfirmed, Some(&account)).await;
    if email.as_deref().is_some_and(|email| email != account.email()) {
        // While it still has the old address, to which this goes.
        notify(cx, EventKind::AddressChanged, &account).await;
    }
    Ok(email.map(|email| (account, email)))
}

impl Proof {
    fn of<A: MailAccount>(account: &A, stamp: &Stamp) -> Result<Self> {
        let (kind, email) = (A::KIND.to_owned(), account.email().to_owned());
        Ok(Self { kind, id: account.id(), email, stamp: stamp.to_text()? })
    }

    fn of_nobody(email: &str) -> Self {
        let stamp = URL_SAFE_NO_PAD.encode(&Sha256::digest(email)[..16]);
        Self { kind: NOBODY.to_owned(), id: NOBODY.to_owned(), email: email.to_owned(), stamp }
    }
}

async fn send_link<A: MailAccount>(
    cx: &Cx<'_>,
    kind: &OneTimeToken<Proof>,
    budget: &'static Budget,
    email: &str,
    stamp: impl Fn(&A) -> Stamp,
    mail: impl FnOnce(&str, &str) -> Mail,
) -> Result<()> {
    may_send::<A>(cx, budget, email, true).await?;
    let begun = Instant::now();
    let account = A::find_by_email(cx, email).await?;
    // One without anything random is a fault of the application. An error here would tell who has an account.
    let account = account.filter(|account| stamp(account).is_random());
    let proof = match &account {
        Some(account) => Proof::of(account, &stamp(account))?,
        None => Proof::of_nobody(email),
    };
    let token = kind.issue(cx, &proof).await?;
    let to = account.as_ref().map_or(email, A::email).to_owned();
    let mail = in_language_of(cx, account.as_ref(), || mail(&to, &token));
    let mail = addressed(mail, &to);
    match account {
        Some(_) => cx.queue_mail(mail),
        None => cx.discard_mail(mail),
    }
    record(cx, EventKind::LinkRequested, account.as_ref()).await;
    wait_for_tick(cx, begun).await;
    Ok(())
}

/// Writes a mail while the request is in the language of the account's owner, which is not that of a stranger who asks.
/// It is chosen for nobody, too: what the response says of languages must not tell who has an account.
fn in_language_of<A: Account>(cx: &Cx<'_>, account: Option<&A>, write: impl FnOnce() -> Mail) -> Mail {
    let before = cx.language();
    cx.set_language(account.and_then(A::language).unwrap_or(before));
    let mail = write();
    cx.set_language(before);
    mail
}

/// Whatever the application wrote there.
fn addressed(mut mail: Mail, to: &str) -> Mail {
    to.clone_into(&mut mail.to);
    mail
}

/// Whether a mail with a link may go to this address now.
async fn may_send<A: MailAccount>(cx: &Cx<'_>, budget: &'static Budget, email: &str, is_name: bool) -> Result<()> {
    if !cx.knows_origin() {
        return Err(Error::internal("links in mails need the setting `base_url`: anybody can write another `Host`"));
    }
    if !Mailbox::is_bare(email.trim()) {
        // "x1 <ada@example.org>" and "x2 <ada@example.org>" would be two recipients, with a budget each.
        return Err(Error::new(StatusCode::UNPROCESSABLE_ENTITY).with_message(AccountMessages::of(cx).not_email));
    }
    let mark = is_name.then(|| known::mark_of_name(A::KIND, email));
    let find = async || A::find_by_email(cx, email).await;
    let subject = budget::subject(A::KIND, email);
    spend_attempt(cx, budget, (&subject, mark.as_deref()), email, find).await.map(drop)
}

/// Records an invalid link, as often as an address may try.
async fn refuse<A: Account>(cx: &Cx<'_>, account: Option<&A>) -> Result<()> {
    spend_of_address(cx, "redeem").await?;
    record(cx, EventKind::LinkRefused, account).await;
    Ok(())
}

/// The account that a link was sent to, unless it is gone, locked, or has another address or stamp by now.
async fn find_proved<A: MailAccount>(
    cx: &Cx<'_>,
    proof: Option<Proof>,
    stamp: impl FnOnce(&A) -> Stamp,
) -> Result<Option<A>> {
    let Some(proof) = proof.filter(|proof| proof.kind == A::KIND && proof.kind != NOBODY) else { return Ok(None) };
    let account = A::find(cx, &proof.id).await?;
    Ok(account.filter(|account| account.email() == proof.email && stamp(account).matches(&proof.stamp)))
}

/// The same, recorded as refused if it is not that.
async fn prove<A: MailAccount>(
    cx: &Cx<'_>,
    proof: Option<Proof>,
    stamp: impl FnOnce(&A) -> Stamp,
) -> Result<Option<A>> {
    let proved = find_proved(cx, proof, stamp).await?;
    if proved.is_none() {
        refuse::<A>(cx, None).await?;
    }
    Ok(proved)
}

/// Changes with the password, whatever the application's own stamp is made of.
fn stamp<A: PasswordAccount>(account: &A) -> Stamp {
    account.stamp().and(account.password_hash().unwrap_or_default())
}
