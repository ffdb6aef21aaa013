//! Signing in and out.

use std::time::{Duration, Instant};

use skep::cache::Pace;

use crate::account::{Account, SIGNED_IN, SignedIn, is_asking, now};
use crate::budget::ATTEMPTS;
use crate::budget::{self, Attempt, Budget, OF_ADDRESS, clear_of_account};
use crate::device::{DEVICE, Device};
use crate::event::{EventKind, notify, record, record_attempt, record_of};
use crate::known::{self, digest};
use crate::password::{Verdict, hash_again, hash_password, is_outdated, verify, verify_password};
use crate::remember::{forget, forget_another};
use crate::second::FIRST_FACTOR;
use crate::tick::wait_for_tick;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::guard::Count;
use skep::link::Destination;
use skep::session::Key;

/// The address, as a digest, that was just confirmed to sign up: its first sign-in is from no new device.
pub(crate) const SIGNED_UP: Key<String> = Key::new("skep.signed-up");

/// Signs a user in, once it is proved who it is: gives the session a new id, against session fixation, and makes it the
/// user's. An account that [has a second factor](Account::has_second_factor) is asked for that first, so it is not
/// signed in when this returns.
///
/// An example is at [`PasswordAccount`].
pub async fn sign_in<A: Account>(cx: &mut Cx<'_>, account: &A) -> Result<()> {
    sign_in_proved(cx, account, now(cx)).await
}

/// The same of a user who proved it at this time, in milliseconds since 1970: 0 if nobody knows when.
pub(crate) async fn sign_in_proved<A: Account>(cx: &mut Cx<'_>, account: &A, proved: u64) -> Result<()> {
    if !account.has_second_factor() {
        return establish(cx, account, proved, EventKind::SignedIn).await;
    }
    let (first, is_own) = (SignedIn::of(account, now(cx))?, is_own(cx, account).await?);
    forget_another(cx, account).await?;
    let session = cx.session();
    session.begin(&owner::<A>(&account.id()), is_own).await?;
    session.remove(&SIGNED_IN).await?;
    session.set(&FIRST_FACTOR, &first).await?;
    record(cx, EventKind::FirstFactorPassed, Some(account)).await;
    Ok(())
}

/// Signs in the account with this id, as all of its factors would. False if no such account exists.
#[cfg(all(feature = "test", not(target_family = "wasm")))]
pub(crate) async fn sign_in_by_id<A: Account>(cx: &mut Cx<'_>, id: &str) -> Result<bool> {
    let Some(account) = A::find(cx, id).await? else { return Ok(false) };
    establish(cx, &account, now(cx), EventKind::SignedIn).await?;
    Ok(true)
}

/// Makes the session the user's, of whom nothing more is asked. What it holds of somebody else goes:
/// [`Session::begin_for`].
///
/// [`Session::begin_for`]: skep::session::Session::begin_for
pub(crate) async fn establish<A: Account>(cx: &mut Cx<'_>, account: &A, proved: u64, event: EventKind) -> Result<()> {
    let is_known = known::device(cx, &mark(account)?).is_some();
    let is_own = is_own(cx, account).await?;
    establish_in(cx, account, proved, (event, is_own, is_known)).await
}

/// The same in a session and a browser of which it is known whether they are the user's.
async fn establish_in<A: Account>(
    cx: &mut Cx<'_>,
    account: &A,
    proved: u64,
    (event, is_own, is_known): (EventKind, bool, bool),
) -> Result<()> {
    let signed_in = SignedIn::of(account, proved)?;
    let confirmed = cx.session().get(&SIGNED_UP).await?;
    let names = [account.notice_address(), Some(account.name())];
    let signed_up = names.into_iter().flatten().find(|name| confirmed.as_deref() == Some(&digest(name)));
    // "Sign out everywhere" must be able to do it.
    cx.session().require_list()?;
    forget_another(cx, account).await?;
    let (session, owner) = (cx.session(), owner::<A>(&account.id()));
    session.begin(&owner, is_own).await?;
    session.belongs_to(&owner).await?;
    session.remove(&FIRST_FACTOR).await?;
    session.set(&DEVICE, &Device::of(cx)).await?;
    session.set(&SIGNED_IN, &signed_in).await?;
    session.remove(&SIGNED_UP).await?;
    is_asking(cx, account);
    record(cx, event, Some(account)).await;
    // Who signs up by a link in a mail has proved to have the address.
    let by_name = signed_up.map(|name| known::mark_of_name(A::KIND, name));
    known::note(cx, [mark(account)?].into_iter().chain(by_name).collect());
    if !is_known && signed_up.is_none() && event == EventKind::SignedIn {
        notify(cx, EventKind::NewDevice, account).await;
    }
    Ok(())
}

/// True if the session is this account's, and not that of another row with its id, or of before a new password.
async fn is_own<A: Account>(cx: &Cx<'_>, account: &A) -> Result<bool> {
    for key in [&SIGNED_IN, &FIRST_FACTOR] {
        if cx.session().get(key).await?.is_some_and(|known| known.is_of(account)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Signs the user of this browser out: ends the session with all that is in it, and forgets the browser.
pub async fn sign_out(cx: &mut Cx<'_>) -> Result<()> {
    forget(cx).await?;
    if let Some(signed_in) = cx.session().get(&SIGNED_IN).await? {
        record_of(cx, EventKind::SignedOut, Some(signed_in.id), None).await;
    }
    cx.session().end().await
}

/// Ends all sessions of a user, on all devices: for "sign out everywhere", when an account is locked, and after a new
/// password, where [`sign_in`] follows for this device. What is open in their name ends within seconds: event streams,
/// WebSockets, downloads.
pub async fn sign_out_everywhere<A: Account>(cx: &mut Cx<'_>, account: &A) -> Result<()> {
    cx.session().end_all(&owner::<A>(&account.id())).await?;
    record(cx, EventKind::SignedOutEverywhere, Some(account)).await;
    Ok(())
}

pub(crate) fn owner<A: Account>(id: &str) -> String {
    format!("{}:{id}", A::KIND)
}

/// An account with a name (or e-mail address) and a password.
///
/// ```
/// use skep::form::{Password, Text};
/// use skep_people::{Account, PasswordAccount, Stamp, password_sign_in};
/// use skep::prelude::*;
/// use skep::sql::{Row, query};
///
/// #[derive(Row)]
/// struct User { id: i64, email: String, password: Option<String> }
///
/// impl Account for User {
///     fn id(&self) -> String { self.id.to_string() }
///
///     fn name(&self) -> &str { &self.email }
///
///     fn stamp(&self) -> Stamp { Stamp::of(&self.password) }
///
///     async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
///         Ok(cx.db().one(query("select id, email, password from user where id = ?", id)).await?)
///     }
/// }
///
/// impl PasswordAccount for User {
///     async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
///         Ok(cx.db().one(query("select id, email, password from user where email = ?", name)).await?)
///     }
///
///     fn password_hash(&self) -> Option<&str> { self.password.as_deref() }
///
///     async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
///         cx.db().execute(query("update user set password = ? where id = ?", (hash, self.id))).await?;
///         Ok(())
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/sign-in", open = "it is how to get in")]
/// struct SignIn { #[form] email: Text<3, 100>, #[form] password: Password<1, 200> }
///
/// impl Handle for SignIn {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         match password_sign_in::<User>(cx, self.email.as_str(), self.password.reveal()).await? {
///             Some(_user) => Ok(Response::text("welcome")),
///             None => Err(SignIn::password.refuse("Name or password is wrong.")),
///         }
///     }
/// }
/// ```
pub trait PasswordAccount: Account {
    /// The account with this name, as it was typed.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>>;

    /// The hash of the password: [`hash_password`]. `None` for an account that signs in otherwise.
    fn password_hash(&self) -> Option<&str>;

    /// Stores a new hash: of another password, or of the same one at another [cost](crate::PasswordCost), with the same
    /// salt.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()>;
}

/// Guesses at a password. From everywhere, strangers have 1,540 in a day for one name.
static GUESSES: Budget = Budget {
    store: &ATTEMPTS,
    what: "password",
    address: OF_ADDRESS,
    near: Pace { burst: 10, each: Duration::from_mins(5) },
    wide: Pace { burst: 100, each: Duration::from_mins(1) },
    device: Pace { burst: 10, each: Duration::from_mins(1) },
    event: EventKind::Throttled,
};

/// Signs in with name and password: `None` if the name is not known, has no password, or has another one. Which of them
/// it is neither the result nor the time that it takes tells.
///
/// # Errors
/// 429 with `Retry-After` if the name was tried 10 times from one network, or 100 times from all of them, or any names
/// 50 times from one address, without success in a while. A browser that has signed in as this name before has 10 tries
/// of its own. 503 if too many passwords are being hashed.
///
/// An example is at [`PasswordAccount`].
pub async fn password_sign_in<A: PasswordAccount>(cx: &mut Cx<'_>, name: &str, password: &str) -> Result<Option<A>> {
    let Some(account) = prove_password::<A>(cx, name, password).await? else { return Ok(None) };
    sign_in(cx, &account).await?;
    note_name(cx, &account, name)?;
    Ok(Some(account))
}

/// This browser has proved to belong to the name. With a second factor, it has not signed in yet.
pub(crate) fn note_name<A: Account>(cx: &Cx<'_>, account: &A, name: &str) -> Result<()> {
    let by_name = known::mark_of_name(A::KIND, name);
    let marks = if account.has_second_factor() { vec![by_name] } else { vec![mark(account)?, by_name] };
    known::note(cx, marks);
    Ok(())
}

/// The account with this name and password, without signing it in: for programs that get an
/// [access token](crate::AccessToken) for a password. It is counted, recorded and refused as [`password_sign_in`] is.
/// It asks for no second factor: refuse accounts that [have one](Account::has_second_factor).
///
/// # Errors
/// Those of [`password_sign_in`].
///
/// ```
/// # use skep::form::{Email, Password};
/// # use skep_people::{AccessToken, PasswordAccount, prove_password};
/// # use skep::prelude::*;
/// # async fn example<User: PasswordAccount>(cx: &mut Cx<'_>, email: &str, password: &str) -> Result {
/// let account = prove_password::<User>(cx, email, password).await?.filter(|user| !user.has_second_factor());
/// let Some(account) = account else { return Err(skep::Error::unauthorized("That is no password for a token.")) };
/// let token = AccessToken::generate_for(&account)?;
/// # Ok(Response::text(token.shown))
/// # }
/// ```
pub async fn prove_password<A: PasswordAccount>(cx: &Cx<'_>, name: &str, password: &str) -> Result<Option<A>> {
    let begun = Instant::now();
    let mark = known::mark_of_name(A::KIND, name);
    let subject = budget::subject(A::KIND, name);
    let find = async || A::find_by_name(cx, name).await;
    let attempt = spend_attempt(cx, &GUESSES, (&subject, Some(&mark)), name, find).await?;
    let compared = async {
        let account = A::find_by_name(cx, name).await?;
        let verdict = verify(cx, password, account.as_ref().and_then(A::password_hash)).await?;
        Ok::<_, Error>((account, verdict))
    };
    let (account, verdict) = match compared.await {
        Ok(compared) => compared,
        Err(error) => {
            // Nothing was compared, through no fault of the client's.
            if error.status().is_server_error() {
                attempt.give_back(cx).await?;
            }
            return Err(error);
        }
    };
    if verdict == Verdict::Wrong {
        // Not what was typed: it may be a password in the wrong field.
        record_attempt(cx, EventKind::SignInRefused, account.as_ref(), name).await;
        wait_for_tick(cx, begun).await;
        return Ok(None);
    }
    let Some(account) = account else { return Ok(None) };
    // Who knows the password did not guess.
    attempt.succeeded(cx).await?;
    if let Some(hash) = account.password_hash().filter(|hash| verdict == Verdict::AsTyped || is_outdated(cx, hash)) {
        let again = hash_again(cx, password, hash).await?;
        // Meanwhile it may have been changed, and must not be again what it was.
        if A::find(cx, &account.id()).await?.is_some_and(|now| now.password_hash() == Some(hash)) {
            account.set_password_hash(cx, &again).await?;
        }
    }
    Ok(Some(account))
}

/// Counts a try of somebody who may be a stranger; 429 and perhaps an event if it is one too many.
pub(crate) async fn spend_attempt<A: Account>(
    cx: &Cx<'_>,
    budget: &'static Budget,
    (subject, mark): (&str, Option<&str>),
    name: &str,
    find: impl AsyncFnOnce() -> Result<Option<A>>,
) -> Result<Attempt> {
    let refused = match budget.spend(cx, subject, mark).await? {
        Ok(attempt) => return Ok(attempt),
        Err(refused) => refused,
    };
    if refused.is_recorded {
        let account = if refused.is_of_name { find().await? } else { None };
        record_attempt(cx, budget.event, account.as_ref(), name).await;
    }
    Err(budget::too_many(cx, refused.wait))
}

/// The same of somebody who is known.
pub(crate) async fn spend_of_account<A: Account>(
    cx: &Cx<'_>,
    subject: &str,
    paces: &[Pace],
    account: &A,
) -> Result<Vec<Count>> {
    let refused = match budget::spend_of_account(cx, subject, paces).await? {
        Ok(counts) => return Ok(counts),
        Err(refused) => refused,
    };
    if refused.is_recorded {
        record(cx, EventKind::Throttled, Some(account)).await;
    }
    Err(budget::too_many(cx, refused.wait))
}

/// The mark of a browser that has signed in as this account. The account's name is not marked: users may choose it, and
/// one who chooses another's address must not have that one's budget.
fn mark<A: Account>(account: &A) -> Result<String> {
    known::mark_of_account(A::KIND, &account.id(), &account.stamp())
}

/// Changes a password: false if `old` is wrong. The user's other sessions end with what is open in their name,
/// remembered devices are forgotten, and [access tokens](crate::AccessToken) and links in mails open nothing any more;
/// this session goes on under a new id. Check the new password's [`weakness`](crate::weakness) before.
///
/// # Errors
/// Those of [`password_sign_in`].
pub async fn change_password<A: PasswordAccount>(cx: &mut Cx<'_>, account: &A, old: &str, new: &str) -> Result<bool> {
    // Who finds a browser open must not find out the password there.
    let subject = format!("change:{}:{}", A::KIND, account.id());
    let counts = spend_of_account(cx, &subject, &[GUESSES.device], account).await?;
    if !verify_password(cx, old, account.password_hash()).await? {
        record(cx, EventKind::SignInRefused, Some(account)).await;
        return Ok(false);
    }
    clear_of_account(cx, &counts).await?;
    let (hash, owner, is_own) = (hash_password(cx, new).await?, owner::<A>(&account.id()), is_own(cx, account).await?);
    // Before the hash: a request of this browser that is under way must not take its own session for one that has
    // ended.
    cx.session().begin(&owner, is_own).await?;
    account.set_password_hash(cx, &hash).await?;
    record(cx, EventKind::PasswordChanged, Some(account)).await;
    let Some(account) = A::find(cx, &account.id()).await? else { return Err(A::refuse(cx)) };
    if account.password_hash() != Some(&*hash) {
        return Err(Error::internal(
            "`Account::find` does not see what `PasswordAccount::set_password_hash` has stored: both have to use `cx.db()`, \
             or both the request's transaction",
        ));
    }
    // Its owner hears of the new password.
    establish_in(cx, &account, now(cx), (EventKind::SignedIn, is_own, true)).await?;
    cx.session().end_others_of(&owner).await?;
    record(cx, EventKind::SignedOutEverywhere, Some(&account)).await;
    Ok(true)
}

/// Where a user wanted to go who was sent to sign in: the path of a query parameter, if it is one of this site, and
/// otherwise `home`. Nobody can send users to another site by it.
///
/// ```
/// use skep_people::return_to;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/home")]
/// struct Home;
/// # impl Handle for Home { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
///
/// let back = Response::see_other(return_to(Some("/tickets?page=2"), Home));
/// assert_eq!(back.headers()["location"], "/tickets?page=2");
/// for elsewhere in ["https://evil.example/", "//evil.example", "/\\evil.example", "tickets", "/\t/evil.example"] {
///     assert_eq!(Response::see_other(return_to(Some(elsewhere), Home)).headers()["location"], "/home");
/// }
/// ```
pub fn return_to<D: Destination>(path: Option<&str>, home: D) -> impl Destination {
    ReturnTo { path: path.and_then(own_path).map(ToOwned::to_owned), home }
}

/// The path, if a browser stays on this site with it. It drops tabs and line breaks, and reads a backslash as a slash
/// (WHATWG URL, 4.4).
pub(crate) fn own_path(path: &str) -> Option<&str> {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (path.starts_with('/') && !path.starts_with("//") && is_plain).then_some(path)
}

struct ReturnTo<D> {
    path: Option<String>,
    home: D,
}

impl<D: Destination> Destination for ReturnTo<D> {
    fn write_url(&self, out: &mut String) {
        match &self.path {
            Some(path) => out.push_str(path),
            None => self.home.write_url(out),
        }
    }
}
