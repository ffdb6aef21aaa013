//! Ready pages of accounts: signing in and out, signing up by a link in a mail, a forgotten password, another password.
//!
//! They are services, written as yours are, so links to them are checked: `a href=(SignInPage::link())`. An application
//! mounts them by [`AccountApp`], says by [`AccountPages`] how its pages look and where they lead, and by
//! [`SignUpAccount`] how a new account begins. Texts are in the language of the request: [`PageMessages`]. Who wants
//! another page leaves these out and writes it, by the functions that these call; `crates/skep-people/src/pages/` has
//! the source.
//!
//! | page | where |
//! |---|---|
//! | [`SignInPage`], [`SignOut`] | `/sign-in`, `/sign-out` |
//! | [`SignUpPage`], [`NewAccountPage`] | `/sign-up`, `/sign-up/{token}` |
//! | [`ForgottenPasswordPage`], [`NewPasswordPage`] | `/forgotten-password`, `/forgotten-password/{token}` |
//! | [`ChangePasswordPage`] | `/change-password` |
//!
//! ```
//! use skep::prelude::*;
//! use skep::sql::Row;
//! use skep_people::pages::{AccountApp, AccountPages, NewAccount, SignOut, SignUpAccount};
//! use skep_people::{Account, Signed};
//! # macro_rules! sql{($($input:tt)*)=>{skep::sql!(in "tests/sql/people";$($input)*)}}
//!
//! #[derive(Row, Account)]
//! #[account(table = "user", filter = "not locked")]
//! # #[account(migrations = "tests/sql/people")]
//! struct User { id: i64, email: String, password: Option<String>, random: String }
//!
//! impl AccountPages for User {
//!     async fn show(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
//!         Ok(Response::html(html! {
//!             @for message in cx.flashes() { p role="status" { (message) } }
//!             h1 { (title) }
//!             (content)
//!         }))
//!     }
//!
//!     fn home() -> impl skep::link::Destination { Home::link() }
//! }
//!
//! impl SignUpAccount for User {
//!     async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
//!         let insert = sql!(
//!             User,
//!             "insert into user (email, password) values (?, ?) returning {columns of User}",
//!             new.email,
//!             new.password_hash
//!         );
//!         cx.db().one(insert).await?.or_404()
//!     }
//! }
//!
//! #[derive(Service)]
//! #[service(GET "/")]
//! struct Home { #[guard] user: Signed<User> }
//!
//! impl Handle for Home {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         let content = html! { form (SignOut::form(cx)) { p { (self.user.email) } button { "Sign out" } } };
//!         User::show(cx, "Hello", &content).await
//!     }
//! }
//!
//! # fn example() -> App {
//! App::new().serve(services![Home]).sign_in_pages::<User>().sign_up_pages::<User>().require::<Signed<User>>()
//! # }
//! # let client = skep::test::Client::new(example());
//! # assert!(client.get("/").text().contains("Forgotten your password?"));
//! ```

mod mail;
mod password;
mod ready;
mod sign_in;
mod sign_up;

use std::any::{TypeId, type_name};

use skep::form::Password;
use skep::html::Html;
use skep::link::Destination;
use skep::mail::Mail;
use skep::{App, Cx, Error, Response, Result, Service, services};

use crate::account::Signed;
use crate::entrance::Entrance;
use crate::link::MailAccount;
use crate::messages::{AccountMessages, PageMessages};
use crate::sign_in::PasswordAccount;

pub use crate::account_mail::AccountMail;
pub use password::{
    ChangePassword, ChangePasswordPage, ForgottenPasswordPage, NewPasswordPage, SendPasswordLink, SetPassword,
};
use ready::{Ready, SignInReady, SignUpReady};
pub use sign_in::{SignIn, SignInPage, SignOut};
pub use sign_up::{CreateAccount, NewAccount, NewAccountPage, SignUp, SignUpPage};

/// A password that somebody chooses, of ten characters at least.
type NewPassword = Password<10, 200>;

/// How the ready pages of an account look, and where they lead. An example is at [`pages`](self).
pub trait AccountPages: MailAccount + PasswordAccount {
    /// A page in the layout of the application, with the [flash messages](Cx::flashes) of the last request. The content
    /// has no heading.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn show(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result;

    /// Where somebody comes who has signed in, unless they wanted to go elsewhere.
    fn home() -> impl Destination;

    /// Where somebody comes who has signed out. Default: [`SignInPage`].
    fn signed_out() -> impl Destination {
        SignInPage::link()
    }

    /// The way to the second factor, for accounts that [have one](crate::Account::has_second_factor): a redirect to the
    /// page that asks for it. `back` is where the user wanted to go, a path of this site. Default: an error, since
    /// there is no such page.
    fn second_factor(cx: &Cx<'_>, back: Option<&str>) -> Result {
        let _ = (cx, back);
        Err(Error::internal("AccountPages::second_factor is not written, and this account has one"))
    }

    /// What is done once somebody has signed in on these pages, without a second factor: here an application calls
    /// [`remember`](crate::remember). Default: nothing.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn signed_in(cx: &mut Cx<'_>, account: &Self) -> Result<()> {
        let _ = (cx, account);
        Ok(())
    }

    /// Writes a mail with a link. Default: [`AccountMail::mail`].
    fn mail(cx: &Cx<'_>, mail: &AccountMail<'_>) -> Mail {
        mail.mail(cx)
    }
}

/// An account that anybody makes who has an address. An example is at [`pages`](self).
///
/// The column of the address is unique, and has it in lower case: of two links to one address, the second one ends in
/// 409 then. An account that [`find`](crate::Account::find) does not give waits for somebody to approve it: a message
/// says so, and its owner is not signed in.
pub trait SignUpAccount: AccountPages {
    /// True if the form asks for a name, too: [`NewAccount::name`]. Default: false.
    const ASKS_NAME: bool = false;

    /// Stores the account of an address that is confirmed. The link can be used again if that fails: what it refuses by
    /// a field (`CreateAccount::name.refuse("taken")`) shows the form again.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self>;
}

/// Mounts the ready [`pages`](self).
pub trait AccountApp {
    /// The pages to sign in, sign out, choose a password in the place of a forgotten one, and change it. Who is not
    /// signed in comes to the first one, by the default of [`Account::refuse`](crate::Account::refuse).
    #[must_use]
    fn sign_in_pages<A: AccountPages>(self) -> Self;

    /// The pages to sign up, to which the one to sign in then has a link.
    #[must_use]
    fn sign_up_pages<A: SignUpAccount>(self) -> Self;
}

impl AccountApp for App {
    fn sign_in_pages<A: AccountPages>(self) -> Self {
        if self.find_state::<SignInReady>().is_some() {
            return self.check_parts(|_| Some(second_kind::<A>("sign_in_pages")));
        }
        let lead = |back: Option<String>| Response::see_other(SignInPage::link().back(back));
        let path = SignInPage::ROUTE.pattern;
        self.state(SignInReady(Ready::<A>::PAGES))
            .state(Entrance { kind: A::KIND, path, lead })
            .entrance_of::<Signed<A>>()
            .serve(services![SignInPage, SignIn, SignOut])
            .serve(services![ForgottenPasswordPage, SendPasswordLink, NewPasswordPage, SetPassword])
            .serve(services![ChangePasswordPage, ChangePassword])
            .guard::<Signed<A>>("/change-password")
    }

    fn sign_up_pages<A: SignUpAccount>(self) -> Self {
        if self.find_state::<SignUpReady>().is_some() {
            return self.check_parts(|_| Some(second_kind::<A>("sign_up_pages")));
        }
        self.state(SignUpReady(Ready::<A>::SIGN_UP_PAGES))
            .serve(services![SignUpPage, SignUp, NewAccountPage, CreateAccount])
            .check_parts(without_sign_in::<A>)
    }
}

/// The ready pages have fixed paths.
fn second_kind<A>(call: &str) -> String {
    let account = type_name::<A>();
    format!("App::{call}::<{account}>: there are these pages of one type of account already: write those of the other")
}

/// Who signs up comes to the page to sign in.
fn without_sign_in<A: AccountPages>(app: &App) -> Option<String> {
    let account = type_name::<A>();
    let is_same = app.find_state::<SignInReady>().is_some_and(|ready| ready.0.account() == TypeId::of::<A>());
    (!is_same)
        .then(|| format!("App::sign_up_pages::<{account}> needs App::sign_in_pages::<{account}>, of the same account"))
}

fn texts(cx: &Cx<'_>) -> &'static PageMessages {
    AccountMessages::of(cx).pages
}

/// A page with this content.
async fn show(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
    cx.state::<SignInReady>().0.show(cx, title, content).await
}
