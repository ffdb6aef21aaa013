//! The account of an application behind pages that do not know its type.

use std::any::TypeId;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use skep::html::Html;
use skep::{Cx, Result};

use super::password::{ChangePassword, NewPasswordPage, SendPasswordLink, SetPassword};
use super::sign_in::SignIn;
use super::sign_up::{CreateAccount, NewAccountPage, SignUp};
use super::{AccountPages, SignUpAccount, password, sign_in, sign_up};

/// The future of a handler, which stays on its thread.
type Handled<'c> = Pin<Box<dyn Future<Output = Result> + 'c>>;

/// A value of the application: the pages are mounted.
pub(super) struct SignInReady(pub(super) &'static dyn Pages);

/// Likewise for those to sign up.
pub(super) struct SignUpReady(pub(super) &'static dyn SignUpPages);

/// What pages have of the account.
pub(super) trait Pages: Sync {
    fn account(&self) -> TypeId;
    fn show<'c>(&self, cx: &'c mut Cx<'_>, title: &'c str, content: &'c Html) -> Handled<'c>;
    fn sign_out<'c>(&self, cx: &'c mut Cx<'_>) -> Handled<'c>;
    fn sign_in<'c>(&self, cx: &'c mut Cx<'_>, form: SignIn) -> Handled<'c>;
    fn send_link<'c>(&self, cx: &'c mut Cx<'_>, form: SendPasswordLink) -> Handled<'c>;
    fn show_new_password<'c>(&self, cx: &'c mut Cx<'_>, page: NewPasswordPage) -> Handled<'c>;
    fn set_password<'c>(&self, cx: &'c mut Cx<'_>, form: SetPassword) -> Handled<'c>;
    fn show_change_password<'c>(&self, cx: &'c mut Cx<'_>) -> Handled<'c>;
    fn change_password<'c>(&self, cx: &'c mut Cx<'_>, form: ChangePassword) -> Handled<'c>;
}

/// The same of those to sign up.
pub(super) trait SignUpPages: Sync {
    fn send_link<'c>(&self, cx: &'c mut Cx<'_>, form: SignUp) -> Handled<'c>;
    fn show<'c>(&self, cx: &'c mut Cx<'_>, page: NewAccountPage) -> Handled<'c>;
    fn create<'c>(&self, cx: &'c mut Cx<'_>, form: CreateAccount) -> Handled<'c>;
}

/// An account, as a value without one.
pub(super) struct Ready<A>(PhantomData<fn() -> A>);

impl<A: AccountPages> Ready<A> {
    pub(super) const PAGES: &'static dyn Pages = &Self(PhantomData);
}

impl<A: SignUpAccount> Ready<A> {
    pub(super) const SIGN_UP_PAGES: &'static dyn SignUpPages = &Self(PhantomData);
}

impl<A: AccountPages> Pages for Ready<A> {
    fn account(&self) -> TypeId {
        TypeId::of::<A>()
    }

    fn show<'c>(&self, cx: &'c mut Cx<'_>, title: &'c str, content: &'c Html) -> Handled<'c> {
        Box::pin(A::show(cx, title, content))
    }

    fn sign_out<'c>(&self, cx: &'c mut Cx<'_>) -> Handled<'c> {
        Box::pin(sign_in::sign_out::<A>(cx))
    }

    fn sign_in<'c>(&self, cx: &'c mut Cx<'_>, form: SignIn) -> Handled<'c> {
        Box::pin(sign_in::sign_in::<A>(cx, form))
    }

    fn send_link<'c>(&self, cx: &'c mut Cx<'_>, form: SendPasswordLink) -> Handled<'c> {
        Box::pin(password::send_link::<A>(cx, form))
    }

    fn show_new_password<'c>(&self, cx: &'c mut Cx<'_>, page: NewPasswordPage) -> Handled<'c> {
        Box::pin(password::show_new::<A>(cx, page))
    }

    fn set_password<'c>(&self, cx: &'c mut Cx<'_>, form: SetPassword) -> Handled<'c> {
        Box::pin(password::set::<A>(cx, form))
    }

    fn show_change_password<'c>(&self, cx: &'c mut Cx<'_>) -> Handled<'c> {
        Box::pin(password::show_change::<A>(cx))
    }

    fn change_password<'c>(&self, cx: &'c mut Cx<'_>, form: ChangePassword) -> Handled<'c> {
        Box::pin(password::change::<A>(cx, form))
    }
}

impl<A: SignUpAccount> SignUpPages for Ready<A> {
    fn send_link<'c>(&self, cx: &'c mut Cx<'_>, form: SignUp) -> Handled<'c> {
        Box::pin(sign_up::send_link::<A>(cx, form))
    }

    fn show<'c>(&self, cx: &'c mut Cx<'_>, page: NewAccountPage) -> Handled<'c> {
        Box::pin(sign_up::show::<A>(cx, page))
    }

    fn create<'c>(&self, cx: &'c mut Cx<'_>, form: CreateAccount) -> Handled<'c> {
        Box::pin(sign_up::create::<A>(cx, form))
    }
}
