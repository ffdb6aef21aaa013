//! Access tokens: what lets a program act for an account.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, WWW_AUTHENTICATE};
use sha2::{Digest, Sha256};

use crate::account::{Account, Fresh, Signed, is_asking};
use crate::messages::AccountMessages;
use crate::random;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::guard::{Guard, Recheck, Security};

/// 384 bits.
const BYTES: usize = 48;

/// A new access token: a random secret, of which the application stores a digest. Who reads the database learns no
/// token, a row that is deleted revokes its token for good, whatever number the next row gets, and a new password ends
/// all tokens of its account.
///
/// ```
/// use skep::form::Text;
/// use skep_people::{AccessToken, Account, Bearer, Fresh, Stamp, TokenAccount};
/// use skep::prelude::*;
/// use skep::sql::{Row, query};
///
/// #[derive(Row)]
/// struct User { id: i64, email: String, password: String }
///
/// # impl Account for User {
/// #     fn id(&self) -> String { self.id.to_string() }
/// #     fn name(&self) -> &str { &self.email }
/// #     fn stamp(&self) -> Stamp { Stamp::of([&self.password]) }
/// #     async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
/// #         Ok(cx.db().one(query("select id, email, password from user where id = ?", id)).await?)
/// #     }
/// # }
/// // create table token (digest text primary key, user_id integer not null, stamp text not null,
/// //     name text not null) strict;
/// impl TokenAccount for User {
///     async fn find_token(cx: &Cx<'_>, digest: &str) -> Result<Option<(String, String)>> {
///         Ok(cx.db().one(query("select cast(user_id as text), stamp from token where digest = ?", digest)).await?)
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/tokens")]
/// struct CreateToken { #[guard] user: Fresh<User>, #[form] name: Text<1, 80> }
///
/// impl Handle for CreateToken {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let token = AccessToken::generate(&self.user)?;
///         let row = (&token.digest, self.user.id, &token.stamp, self.name.as_str());
///         cx.db().execute(query("insert into token (digest, user_id, stamp, name) values (?, ?, ?, ?)", row)).await?;
///         Ok(Response::text(token.shown)) // the one time that it is shown
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/api/me")]
/// struct Me { #[guard] user: Bearer<User> }
///
/// impl Handle for Me {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(self.user.email.clone())) }
/// }
/// ```
///
/// The guide is `docs/guides/people/access-tokens.md`.
#[non_exhaustive]
pub struct AccessToken {
    /// The token, to be shown once: 64 letters, digits, `-` and `_`.
    pub shown: String,
    /// What is stored of it, and found by [`TokenAccount::find_token`].
    pub digest: String,
    /// What is stored of the account's [`stamp`](Account::stamp), with the digest.
    pub stamp: String,
}

impl AccessToken {
    /// A token for an account whose user has just proved who it is: a token lasts longer than a session. An example is
    /// at [`AccessToken`].
    pub fn generate<A: Account>(user: &Fresh<A>) -> Result<Self> {
        Self::generate_for(&**user)
    }

    /// The same where another proof came with the request, such as a password that
    /// [`verify_password`](crate::verify_password) found right: for programs that sign in by themselves.
    pub fn generate_for<A: Account>(account: &A) -> Result<Self> {
        let shown = URL_SAFE_NO_PAD.encode(random::bytes::<BYTES>()?);
        Ok(Self { digest: digest(&shown), stamp: account.stamp().to_text()?, shown })
    }
}

/// Neither the token nor what is stored of it.
impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

/// An account that may have access tokens, in a table of the application. An example is at [`AccessToken`].
pub trait TokenAccount: Account {
    /// The [id](Account::id) of the account and the [stamp](AccessToken::stamp) that are stored with this
    /// [digest](AccessToken::digest), if that is the one of a token which is valid.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn find_token(cx: &Cx<'_>, digest: &str) -> Result<Option<(String, String)>>;
}

/// A guard: the account of the [access token](AccessToken) in `Authorization: Bearer TOKEN` (RFC 6750). It admits
/// nobody by a session, so that no other site can use it, and covers [`Signed`].
#[derive(Debug)]
pub struct Bearer<A>(A);

impl<A: TokenAccount> Guard for Bearer<A> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let Some(account) = find::<A>(cx).await? else {
            return Err(no_token(cx).with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        };
        is_asking(cx, &account);
        cx.recheck::<ByToken<A>>();
        Ok(Self(account))
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || guard == TypeId::of::<Signed<A>>()
    }

    fn security() -> Option<Security> {
        Some(Security::Bearer)
    }
}

impl<A> Deref for Bearer<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A> Bearer<A> {
    /// The value, to keep.
    #[must_use]
    pub fn into_inner(self) -> A {
        self.0
    }
}

/// A guard for what pages of this site and programs call: the account that is signed in, or that of the [access
/// token](AccessToken). A request with the field `Authorization` is judged by it alone. Without either, one that
/// accepts HTML gets what [`Account::refuse`] says, and others 401. It covers [`Signed`]; a request with a session that
/// changes something must come from a page of this site, as everywhere.
///
/// ```
/// # use skep_people::{Account, SignedOrBearer, Stamp, TokenAccount};
/// # use skep::prelude::*;
/// # struct User;
/// # impl Account for User {
/// #     fn id(&self) -> String { "1".into() }
/// #     fn name(&self) -> &str { "Ada" }
/// #     fn stamp(&self) -> Stamp { Stamp::of(["b2f5ff47436671b6"]) }
/// #     async fn find(_cx: &Cx<'_>, _id: &str) -> Result<Option<Self>> { Ok(Some(Self)) }
/// #     fn refuse(_cx: &Cx<'_>) -> Error { Response::see_other(SignIn).into() }
/// # }
/// # impl TokenAccount for User {
/// #     async fn find_token(_cx: &Cx<'_>, _digest: &str) -> Result<Option<(String, String)>> { Ok(None) }
/// # }
/// # #[derive(Service)]
/// # #[service(GET "/sign-in")]
/// # struct SignIn;
/// # impl Handle for SignIn {
/// #     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("Who are you?")) }
/// # }
/// #[derive(Service)]
/// #[service(GET "/api/me")]
/// struct Me { #[guard] user: SignedOrBearer<User> }
///
/// impl Handle for Me {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(self.user.name().to_owned())) }
/// }
/// # let client = skep::test::Client::new(App::new().serve(services![Me, SignIn]));
/// # assert_eq!(client.get("/api/me").status(), 401);
/// # let page = client.request(skep::Method::GET, "/api/me").header("accept", "text/html,*/*;q=0.8").send();
/// # assert_eq!(page.text(), "Who are you?");
/// ```
#[derive(Debug)]
pub struct SignedOrBearer<A>(A);

impl<A: TokenAccount> Guard for SignedOrBearer<A> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        if cx.fields().contains_key(AUTHORIZATION) {
            return Bearer::<A>::check(cx).await.map(|bearer| Self(bearer.into_inner()));
        }
        let signed = Signed::<A>::check(cx).await.map(|signed| Self(signed.into_inner()));
        // A program would follow to the page for signing in, and take that for the answer.
        let reads_html = cx.header(&ACCEPT).is_some_and(|accepted| accepted.contains("text/html"));
        signed.map_err(|refused| if reads_html { refused } else { no_token(cx) })
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || guard == TypeId::of::<Signed<A>>()
    }

    fn security() -> Option<Security> {
        Some(Security::Bearer)
    }
}

impl<A> Deref for SignedOrBearer<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

/// To a program that brings no valid token.
fn no_token(cx: &Cx<'_>) -> Error {
    Error::unauthorized(AccountMessages::of(cx).no_token)
}

/// The account of the token that the request brings, unless it is gone or locked, or has another password by now.
async fn find<A: TokenAccount>(cx: &Cx<'_>) -> Result<Option<A>> {
    let field = cx.header(&AUTHORIZATION).and_then(|field| field.split_once(' '));
    let token = field.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
    // What is no token is not looked up.
    let Some(token) = token.filter(|token| token.len() == BYTES / 3 * 4) else { return Ok(None) };
    let Some((id, stamp)) = A::find_token(cx, &digest(token)).await? else { return Ok(None) };
    Ok(A::find(cx, &id).await?.filter(|account| account.stamp().matches(&stamp)))
}

/// Looks the token up again.
struct ByToken<A>(PhantomData<fn() -> A>);

impl<A: TokenAccount> Recheck for ByToken<A> {
    async fn begin(_cx: &Cx<'_>) -> Result<Self> {
        Ok(Self(PhantomData))
    }

    async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
        Ok(find::<A>(cx).await?.is_some())
    }
}

fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token))
}
