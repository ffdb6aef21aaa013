//! Another password: in the place of one that is forgotten, or of one that is known.

use skep::form::{Email, Password};
use skep::guard::Guard;
use skep::param::Token;
use skep::prelude::*;

use super::ready::SignInReady;
use super::{AccountMail, AccountPages, NewPassword, SignInPage, show, texts};
use crate::account::Signed;
use crate::common::weakness;
use crate::link::{redeem_reset_link, reset_link_account, send_reset_link};
use crate::sign_in::change_password;

/// The form that asks for the address of an account.
#[doc(alias = "reset password")]
#[derive(Debug, Service)]
#[service(GET "/forgotten-password", optional, open = "it is how to get in")]
pub struct ForgottenPasswordPage;

/// Sends a link to the address, if it has an account: [`send_reset_link`](crate::send_reset_link).
#[derive(Debug, Service)]
#[service(POST "/forgotten-password", page = ForgottenPasswordPage, optional, open = "it is how to get in")]
pub struct SendPasswordLink {
    /// Where the link goes.
    #[form]
    pub email: Email,
}

/// Where the link of the mail leads.
#[derive(Debug, Service)]
#[service(GET "/forgotten-password/{token}", optional, open = "the token says who may")]
pub struct NewPasswordPage {
    /// Of the mail.
    pub token: Token,
}

/// Stores the new password, and ends all sessions of the account: [`redeem_reset_link`](crate::redeem_reset_link).
#[derive(Debug, Service)]
#[service(POST "/forgotten-password/{token}", page = NewPasswordPage { token }, optional, open = "the token says who may")]
pub struct SetPassword {
    /// Of the mail.
    pub token: Token,
    /// The new one.
    #[form]
    pub password: NewPassword,
}

/// The form to change the password. A guard before its path admits who is signed in.
#[derive(Debug, Service)]
#[service(GET "/change-password", optional)]
pub struct ChangePasswordPage;

/// Changes it, and ends all other sessions of the account: [`change_password`](crate::change_password).
#[derive(Debug, Service)]
#[service(POST "/change-password", page = ChangePasswordPage, optional)]
pub struct ChangePassword {
    /// The one until now.
    #[form]
    pub old: Password<1, 200>,
    /// The new one.
    #[form]
    pub new: NewPassword,
}

impl Handle for ForgottenPasswordPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let texts = texts(cx);
        let content = html! {
            p { (texts.forgotten_password_hint) }
            form (SendPasswordLink::form(cx)) {
                label (SendPasswordLink::email) { (texts.email) }
                input (SendPasswordLink::email) autocomplete="username";
                button { (texts.send_link) }
            }
            p { a href=(SignInPage::link()) { (texts.sign_in) } }
        };
        show(cx, texts.forgotten_password, &content).await
    }
}

impl Handle for SendPasswordLink {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.send_link(cx, self).await
    }
}

pub(super) async fn send_link<A: AccountPages>(cx: &mut Cx<'_>, form: SendPasswordLink) -> Result {
    send_reset_link::<A>(cx, form.email.as_str(), |to, token| {
        let link = cx.absolute(NewPasswordPage { token: token.into() });
        A::mail(cx, &AccountMail::ForgottenPassword { to, link: &link })
    })
    .await?;
    cx.flash(texts(cx).mail_sent_to_account);
    Ok(Response::see_other(SignInPage::link()))
}

impl Handle for NewPasswordPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.show_new_password(cx, self).await
    }
}

pub(super) async fn show_new<A: AccountPages>(cx: &mut Cx<'_>, page: NewPasswordPage) -> Result {
    let (texts, account) = (texts(cx), account_of_link::<A>(cx, &page.token).await?);
    let content = html! {
        form (SetPassword::form(cx, page.token)) {
            input type="email" autocomplete="username" value=(account.email()) hidden readonly;
            label (SetPassword::password) { (texts.new_password) }
            input (SetPassword::password) autocomplete="new-password" aria-describedby="new-password-hint";
            p.hint #new-password-hint { (texts.password_hint) }
            button { (texts.save) }
        }
    };
    A::show(cx, texts.new_password, &content).await
}

async fn account_of_link<A: AccountPages>(cx: &Cx<'_>, token: &str) -> Result<A> {
    let account = reset_link_account::<A>(cx, token).await?;
    account.ok_or_else(|| Error::not_found().with_message(texts(cx).link_expired))
}

impl Handle for SetPassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.set_password(cx, self).await
    }
}

pub(super) async fn set<A: AccountPages>(cx: &mut Cx<'_>, form: SetPassword) -> Result {
    let (texts, password) = (texts(cx), form.password.reveal());
    let account = account_of_link::<A>(cx, &form.token).await?;
    if let Some(problem) = weakness(password, &[account.email(), account.name()]) {
        return Err(SetPassword::password.refuse(problem.text(cx)));
    }
    if redeem_reset_link::<A>(cx, &form.token, password).await?.is_none() {
        return Err(Error::not_found().with_message(texts.link_expired));
    }
    cx.flash(texts.password_saved);
    Ok(Response::see_other(SignInPage::link()))
}

impl Handle for ChangePasswordPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.show_change_password(cx).await
    }
}

pub(super) async fn show_change<A: AccountPages>(cx: &mut Cx<'_>) -> Result {
    let (texts, account) = (texts(cx), Signed::<A>::check(cx).await?);
    let content = if account.password_hash().is_some() {
        html! {
            form (ChangePassword::form(cx)) {
                input type="email" autocomplete="username" value=(account.email()) hidden readonly;
                label (ChangePassword::old) { (texts.old_password) }
                input (ChangePassword::old) autocomplete="current-password";
                label (ChangePassword::new) { (texts.new_password) }
                input (ChangePassword::new) autocomplete="new-password" aria-describedby="new-password-hint";
                p.hint #new-password-hint { (texts.password_hint) }
                button { (texts.save) }
            }
        }
    } else {
        html! { p { (texts.no_password) " " a href=(ForgottenPasswordPage) { (texts.send_link) } } }
    };
    A::show(cx, texts.change_password, &content).await
}

impl Handle for ChangePassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignInReady>().0.change_password(cx, self).await
    }
}

pub(super) async fn change<A: AccountPages>(cx: &mut Cx<'_>, form: ChangePassword) -> Result {
    let (texts, account) = (texts(cx), Signed::<A>::check(cx).await?);
    let (old, new) = (form.old.reveal(), form.new.reveal());
    if let Some(problem) = weakness(new, &[account.email(), account.name()]) {
        return Err(ChangePassword::new.refuse(problem.text(cx)));
    }
    if !change_password(cx, &*account, old, new).await? {
        return Err(ChangePassword::old.refuse(texts.not_your_password));
    }
    cx.flash(texts.password_saved);
    Ok(Response::see_other(A::home()))
}
