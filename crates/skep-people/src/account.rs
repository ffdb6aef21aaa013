//! Guards that know who is signed in.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::entrance::to_sign_in;
use crate::event::{EventKind, record};
use crate::messages::AccountMessages;
use crate::remember::sign_in_again;
use crate::stamp::Stamp;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::guard::{Guard, Recheck, Security};
use skep::session::Key;

/// Who a session belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedIn {
    /// [`Account::KIND`].
    pub(crate) kind: String,
    pub(crate) id: String,
    /// [`Account::stamp`].
    pub(crate) stamp: String,
    /// When the user last proved it, in milliseconds since 1970.
    pub(crate) proved: u64,
}

pub(crate) const SIGNED_IN: Key<SignedIn> = Key::new("skep.signed-in");

/// A type of the application that signs in: a user, a customer, an agent. [`derive(Account)`](derive@crate::Account)
/// writes what is usual; by hand it is:
///
/// ```
/// use skep_people::{Account, Signed, Stamp};
/// use skep::prelude::*;
/// use skep::sql::{Row, query};
///
/// #[derive(Row)]
/// struct User { id: i64, email: String, password: String, admin: bool }
///
/// impl Account for User {
///     fn id(&self) -> String { self.id.to_string() }
///
///     fn name(&self) -> &str { &self.email }
///
///     fn stamp(&self) -> Stamp { Stamp::of([&self.password]) }
///
///     async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
///         Ok(cx.db().one(query("select id, email, password, admin from user where id = ? and not locked", id)).await?)
///     }
///
///     fn refuse(_cx: &Cx<'_>) -> Error {
///         Response::see_other(SignIn).into()
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/profile")]
/// struct Profile { #[guard] user: Signed<User> }
///
/// impl Handle for Profile {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(self.user.email.clone())) }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/sign-in")]
/// struct SignIn;
/// # impl Handle for SignIn { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("who are you?")) } }
///
/// # fn example() -> App {
/// App::new().serve(services![Profile, SignIn])
/// # }
/// # let _ = example;
/// ```
pub trait Account: Sized + 'static {
    /// Tells several types of accounts apart, where an application has them.
    const KIND: &'static str = "user";

    /// How long ago a [`Fresh`] proof may be. Default: 10 minutes.
    const FRESH: Duration = Duration::from_mins(10);

    /// What identifies the account for ever, such as the key of its row. On SQLite that key has `autoincrement`:
    /// without it, SQLite gives the number of a row that was deleted to the next one.
    fn id(&self) -> String;

    /// Something random of the row, which no other row ever had, and which changes with the password: the hash of the
    /// password, a random column, or both.
    ///
    /// Sessions, remembered devices, links in mails, access tokens and what is open in their name (event streams,
    /// WebSockets) hold a digest of it, which is compared at each request: so a new password ends them all, and nobody
    /// gets those of an account that was deleted, whatever its id. To end them for good with a lock, draw another value
    /// for the random column where the account is locked; or call [`sign_out_everywhere`](crate::sign_out_everywhere).
    ///
    /// An account without a password has a random column: on SQLite `random text not null default
    /// (hex(randomblob(16)))`, on PostgreSQL `random uuid not null default gen_random_uuid()`.
    fn stamp(&self) -> Stamp;

    /// What log lines and error pages call the user. No secret. Where users choose it themselves,
    /// [`notice_address`](Self::notice_address) has to be another one than the default.
    fn name(&self) -> &str;

    /// Where its owner gets mail about what has happened to it: a sign-in from a new device, another password
    /// ([`Notice`](crate::Notice)). Default: its name, if that is an e-mail address.
    fn notice_address(&self) -> Option<&str> {
        Some(self.name()).filter(|name| skep::mail::Mailbox::is_bare(name))
    }

    /// The language of mails to its owner, as [`Cx::language`] names it, and of pages to them, unless the path or a
    /// cookie names another one. Default: that of the request, which may be a stranger's.
    fn language(&self) -> Option<&str> {
        None
    }

    /// True if a second factor is asked for after the first one: [`sign_in`](crate::sign_in) then signs nobody in, and
    /// [`second_factor_sign_in`](crate::second_factor_sign_in) does. Default: false.
    fn has_second_factor(&self) -> bool {
        false
    }

    /// The account, unless it is gone or locked: it is asked for by every request with a guard, so what is locked is
    /// out at once, and a session that comes meanwhile has ended.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>>;

    /// What somebody gets who is not signed in. Default: the [page to sign in](crate::pages) of these accounts, which
    /// leads back, or 401 without one. A redirect to your own is `Response::see_other(...).into()`;
    /// [`return_to`](crate::return_to) brings users back.
    fn refuse(cx: &Cx<'_>) -> Error {
        // The status says it, in the language of the request.
        to_sign_in(cx, Self::KIND).unwrap_or_else(|| Error::new(StatusCode::UNAUTHORIZED))
    }

    /// What somebody gets who is signed in, but has to prove it again: [`Fresh`]. Default: as [`refuse`](Self::refuse).
    fn refuse_stale(&self, cx: &Cx<'_>) -> Error {
        Self::refuse(cx)
    }
}

/// A guard: the account that is signed in. Nobody else makes one:
///
/// ```compile_fail,E0423
/// fn forge<A: skep_people::Account>(account: A) -> skep_people::Signed<A> {
///     skep_people::Signed(account) // its field is private
/// }
/// ```
#[derive(Debug)]
pub struct Signed<A>(A);

impl<A: Account> Guard for Signed<A> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        match find_and_hold::<A>(cx).await? {
            Some((account, _)) => Ok(Self(account)),
            None => Err(A::refuse(cx)),
        }
    }

    fn security() -> Option<Security> {
        Some(SESSION)
    }
}

/// A guard that refuses nobody: the account that is signed in, if one is.
///
/// ```
/// # use skep_people::{Account, Maybe};
/// # use skep::prelude::*;
/// # struct User;
/// # impl Account for User {
/// #     fn id(&self) -> String { "1".into() }
/// #     fn name(&self) -> &str { "Ada" }
/// #     fn stamp(&self) -> skep_people::Stamp { skep_people::Stamp::of(["b2f5ff47436671b6"]) }
/// #     async fn find(_cx: &Cx<'_>, _id: &str) -> Result<Option<Self>> { Ok(Some(Self)) }
/// # }
/// #[derive(Service)]
/// #[service(GET "/", open = "the first page is for everybody")]
/// struct Index { #[state] user: Maybe<User> }
///
/// impl Handle for Index {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(self.user.as_ref().map_or("hello", |user| user.name()).to_owned()))
///     }
/// }
/// # assert_eq!(skep::test::Client::new(App::new().serve(services![Index])).get("/").text(), "hello");
/// ```
///
/// It is written as `#[state]`, since a service with it is as open as one without.
#[derive(Debug)]
pub struct Maybe<A>(Option<A>);

impl<A> Maybe<A> {
    /// The account as the guard [`Signed`], if there is one: of that a [`Scope`](skep::guard::Scope) is made, where a
    /// page for everybody shows a user their own rows.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep_people::{Account, Maybe, Signed};
    /// fn greeting<A: Account>(user: Maybe<A>) -> String {
    ///     match user.signed() {
    ///         Some(user) => format!("Hello, {}", user.name()),
    ///         None => "Hello".to_owned(),
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn signed(self) -> Option<Signed<A>> {
        self.0.map(Signed)
    }
}

impl<A: Account> Guard for Maybe<A> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        Ok(Self(find_and_hold::<A>(cx).await?.map(|(account, _)| account)))
    }
}

/// A guard: the account that is signed in and proved it within [`Account::FRESH`]. For a new password, a deletion, a
/// payment: what is elsewhere called sudo mode. Nobody else makes one:
///
/// ```compile_fail,E0423
/// fn forge<A: skep_people::Account>(account: A) -> skep_people::Fresh<A> {
///     skep_people::Fresh(account) // its field is private
/// }
/// ```
#[derive(Debug)]
pub struct Fresh<A>(A);

impl<A: Account> Guard for Fresh<A> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let Some((account, proved)) = find_and_hold::<A>(cx).await? else { return Err(A::refuse(cx)) };
        let age = now(cx).saturating_sub(proved);
        if u128::from(age) <= A::FRESH.as_millis() { Ok(Self(account)) } else { Err(account.refuse_stale(cx)) }
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || guard == TypeId::of::<Signed<A>>()
    }

    fn security() -> Option<Security> {
        Some(SESSION)
    }
}

/// Who may do something, for [`Allowed`].
///
/// ```
/// use skep_people::{Account, Allowed, Rule};
/// use skep::prelude::*;
///
/// struct User { admin: bool }
/// # impl Account for User {
/// #     fn id(&self) -> String { "1".into() }
/// #     fn name(&self) -> &str { "Ada" }
/// #     fn stamp(&self) -> skep_people::Stamp { skep_people::Stamp::of(["b2f5ff47436671b6"]) }
/// #     async fn find(_cx: &Cx<'_>, _id: &str) -> Result<Option<Self>> { Ok(Some(Self { admin: false })) }
/// # }
///
/// struct Administrate;
///
/// impl Rule for Administrate {
///     type Account = User;
///
///     async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> { Ok(user.admin) }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/admin")]
/// struct Admin { #[guard] admin: Allowed<Administrate> }
///
/// impl Handle for Admin {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(format!("hello, {}", self.admin.name()))) }
/// }
/// assert_eq!(skep::test::Client::new(App::new().serve(services![Admin])).get("/admin").status(), 401);
/// ```
///
/// What the account itself tells is shorter as [`rule!`](crate::rule).
pub trait Rule: 'static {
    /// Whom it judges.
    type Account: Account;

    /// True if this account may do it.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn allows(account: &Self::Account, cx: &Cx<'_>) -> Result<bool>;

    /// What others who are signed in get. Default: 403.
    fn refuse(account: &Self::Account, cx: &Cx<'_>) -> Error {
        let _ = account;
        Error::forbidden(AccountMessages::of(cx).forbidden)
    }
}

/// A guard: the account that is signed in, which a [`Rule`] allows. It covers [`Signed`].
#[derive(Debug)]
pub struct Allowed<R: Rule>(R::Account);

impl<R: Rule> Guard for Allowed<R> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let Some((account, _)) = find::<R::Account>(cx).await? else { return Err(R::Account::refuse(cx)) };
        if R::allows(&account, cx).await? {
            cx.recheck::<ByRule<R>>();
            return Ok(Self(account));
        }
        record(cx, EventKind::Refused, Some(&account)).await;
        Err(R::refuse(&account, cx))
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || guard == TypeId::of::<Signed<R::Account>>()
    }

    fn security() -> Option<Security> {
        Some(SESSION)
    }
}

macro_rules! derefs {
    ($($guard:ident<$parameter:ident $(: $bound:ident)?> => $target:ty;)*) => {$(
        impl<$parameter $(: $bound)?> Deref for $guard<$parameter> {
            type Target = $target;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl<$parameter $(: $bound)?> $guard<$parameter> {
            /// The value, to keep.
            #[must_use]
            pub fn into_inner(self) -> $target {
                self.0
            }
        }
    )*};
}

derefs! {
    Signed<A> => A;
    Maybe<A> => Option<A>;
    Fresh<A> => A;
    Allowed<R: Rule> => R::Account;
}

const SESSION: Security = Security::Cookie { name: "skep-session" };

/// The account that the session belongs to, and when that was proved; or that of a browser that is remembered.
async fn find<A: Account>(cx: &mut Cx<'_>) -> Result<Option<(A, u64)>> {
    let signed_in = cx.session().get(&SIGNED_IN).await?;
    let Some(signed_in) = signed_in else { return Ok(sign_in_again(cx).await?.map(|account| (account, 0))) };
    if signed_in.kind != A::KIND {
        return Ok(None);
    }
    let account = A::find(cx, &signed_in.id).await?.filter(|account| signed_in.is_of(account));
    let Some(account) = account else {
        cx.session().lose().await?;
        return Ok(None);
    };
    is_asking(cx, &account);
    Ok(Some((account, signed_in.proved)))
}

/// Notes whose request this is: for the log, and in which language.
pub(crate) fn is_asking<A: Account>(cx: &Cx<'_>, account: &A) {
    cx.set_user(account.name());
    speak_to(cx, account);
}

/// Answers in the language of this account, unless the path or a cookie names another one.
pub(crate) fn speak_to<A: Account>(cx: &Cx<'_>, account: &A) {
    if let Some(language) = account.language() {
        cx.prefer_language(language);
    }
}

/// The same, and what goes on after the response ends with the session.
async fn find_and_hold<A: Account>(cx: &mut Cx<'_>) -> Result<Option<(A, u64)>> {
    let found = find(cx).await?;
    if found.is_some() {
        cx.recheck::<BySession<A>>();
    }
    Ok(found)
}

/// Milliseconds since 1970.
pub(crate) fn now(cx: &Cx<'_>) -> u64 {
    cx.clock().now().millis()
}

impl SignedIn {
    /// Of an account, as it is now.
    pub(crate) fn of<A: Account>(account: &A, proved: u64) -> Result<Self> {
        Ok(Self { kind: A::KIND.to_owned(), id: account.id(), stamp: account.stamp().to_text()?, proved })
    }

    /// True if it was made of this account, and nothing has ended it since: no new password, no other row with this id.
    pub(crate) fn is_of<A: Account>(&self, account: &A) -> bool {
        self.kind == A::KIND && self.id == account.id() && account.stamp().matches(&self.stamp)
    }
}

/// The session by which somebody was admitted whose response goes on.
struct Held {
    signed_in: SignedIn,
    /// What the store calls it.
    session: String,
}

impl Held {
    async fn of(cx: &Cx<'_>) -> Result<Option<Self>> {
        let signed_in = cx.session().get(&SIGNED_IN).await?;
        Ok(signed_in.zip(cx.session().own_name().await?).map(|(signed_in, session)| Self { signed_in, session }))
    }

    /// The account, if the session lasts and is still its own. That it is used is not noted: perhaps nobody is there.
    async fn account<A: Account>(&self, cx: &Cx<'_>) -> Result<Option<A>> {
        if !cx.session().lasts(&self.session).await? {
            return Ok(None);
        }
        Ok(A::find(cx, &self.signed_in.id).await?.filter(|account| self.signed_in.is_of(account)))
    }
}

/// Asks for the account again.
struct BySession<A>(Option<Held>, PhantomData<fn() -> A>);

impl<A: Account> Recheck for BySession<A> {
    async fn begin(cx: &Cx<'_>) -> Result<Self> {
        Ok(Self(Held::of(cx).await?, PhantomData))
    }

    async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
        let Some(held) = &self.0 else { return Ok(false) };
        Ok(held.account::<A>(cx).await?.is_some())
    }
}

/// Asks the rule, too.
struct ByRule<R>(Option<Held>, PhantomData<fn() -> R>);

impl<R: Rule> Recheck for ByRule<R> {
    async fn begin(cx: &Cx<'_>) -> Result<Self> {
        Ok(Self(Held::of(cx).await?, PhantomData))
    }

    async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
        let Some(held) = &self.0 else { return Ok(false) };
        match held.account::<R::Account>(cx).await? {
            Some(account) => R::allows(&account, cx).await,
            None => Ok(false),
        }
    }
}
