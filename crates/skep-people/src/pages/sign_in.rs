//! Signing in and out.

use skep::form::{Email, Hidden, Password};
use skep::prelude::*;

use super::ready::{SignInReady, SignUpReady};
use super::{AccountPages, ForgottenPasswordPage, SignUpPage, show, texts};
use crate::sign_in::{own_path, password_sign_in, return_to};

/// The form to sign in.
#[doc(alias = "login")]
#[derive(Debug, Service)]
#[service(GET "/sign-in", optional, open = "it is how to get in")]
pub struct SignInPage {
    /// Where somebody wanted to go.
    pub back: Option<String>,
}

/// Signs in: [`password_sign_in`](crate::password_sign_in).
#[derive(Debug, Service)]
#[service(POST "/sign-in", page = SignInPage::link(), optional, open = "it is how to get in")]
pub struct SignIn {
    /// Where to go on.
    #[form]
    pub back: Option<Hidden<String>>,
    /// The address of the account.
    #[form]
    pub email: Email,
    /// Its password.
    #[form]
    pub password: Password<1, 200>,
}

/// Signs out: `form (SignOut::form(cx)) { button { "Sign out" } }`.
#[doc(alias = "logout")]
#[derive(Debug, Service)]
#[service(POST "/sign-out", optional, open = "who is not signed in loses nothing")]
pub struct SignOut;

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let texts = texts(cx);
        let form = SignIn::form(cx).value(SignIn::back, &self.back.map(Hidden));
        let content = html! {
            form (form) {
                input (SignIn::back);
                label (SignIn::email) { (texts.email) }
                input (SignIn::email) autocomplete="username";
                label (SignIn::password) { (texts.password) }
                input (SignIn::password) autocomplete="current-password";
                button { (texts.sign_in) }
            }
            p { a href=(ForgottenPasswordPage) { (texts.forgotten_password) } }
            @if cx.find_state::<SignUpReady>().is_some() { p { a href=(SignUpPage) { (texts.sign_up) } } }
        };
        show(cx, texts.sign_in, &content).await
    }
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.sign_in(cx, self).await
    }
}

pub(super) async fn sign_in<A: AccountPages>(cx: &mut Cx<'_>, form: SignIn) -> Result {
    let account = password_sign_in::<A>(cx, form.email.as_str(), form.password.reveal()).await?;
    let Some(account) = account else { return Err(SignIn::password.refuse(texts(cx).wrong_password)) };
    let back = form.back.as_ref().and_then(|Hidden(path)| own_path(path));
    if account.has_second_factor() {
        return A::second_factor(cx, back);
    }
    A::signed_in(cx, &account).await?;
    Ok(Response::see_other(return_to(back, A::home())))
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.sign_out(cx).await
    }
}

pub(super) async fn sign_out<A: AccountPages>(cx: &mut Cx<'_>) -> Result {
    crate::sign_in::sign_out(cx).await?;
    Ok(Response::see_other(A::signed_out()))
}
