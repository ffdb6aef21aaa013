//! New accounts. The address is confirmed before there is one, and only the mail says whether it has one already.

use skep::form::{Email, Text};
use skep::param::Token;
use skep::prelude::*;

use super::ready::SignUpReady;
use super::{AccountMail, NewPassword, SignInPage, SignUpAccount, show as show_page, texts};
use crate::common::weakness;
use crate::link::{redeem_sign_up_link, send_sign_up_link, sign_up_address};
use crate::password::hash_password;
use crate::sign_in::sign_in;

/// The form that asks for an address.
#[doc(alias = "register")]
#[derive(Debug, Service)]
#[service(GET "/sign-up", optional, open = "everybody may have an account")]
pub struct SignUpPage;

/// Sends a link to the address: [`send_sign_up_link`](crate::send_sign_up_link).
#[derive(Debug, Service)]
#[service(POST "/sign-up", page = SignUpPage, optional, open = "everybody may have an account")]
pub struct SignUp {
    /// Where the link goes.
    #[form]
    pub email: Email,
}

/// Where the link of the mail leads.
#[derive(Debug, Service)]
#[service(GET "/sign-up/{token}", optional, open = "the token says who may")]
pub struct NewAccountPage {
    /// Of the mail.
    pub token: Token,
}

/// Makes the account, and signs it in.
#[derive(Debug, Service)]
#[service(POST "/sign-up/{token}", page = NewAccountPage { token }, optional, open = "the token says who may")]
pub struct CreateAccount {
    /// Of the mail.
    pub token: Token,
    /// What others see, where the account [asks for it](SignUpAccount::ASKS_NAME).
    #[form]
    pub name: Option<Text<1, 80>>,
    /// What it signs in with.
    #[form]
    pub password: NewPassword,
}

/// What a new account begins with.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct NewAccount<'n> {
    /// Its address, in lower case.
    pub email: &'n str,
    /// What others see; empty where it is not asked for.
    pub name: &'n str,
    /// Of the password.
    pub password_hash: &'n str,
}

skep_units::opaque_debug!(NewAccount<'_>);

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let texts = texts(cx);
        let content = html! {
            p { (texts.sign_up_hint) }
            form (SignUp::form(cx)) {
                label (SignUp::email) { (texts.email) }
                input (SignUp::email) autocomplete="email";
                button { (texts.sign_up) }
            }
            p { a href=(SignInPage::link()) { (texts.sign_in) } }
        };
        show_page(cx, texts.sign_up, &content).await
    }
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignUpReady>().0.send_link(cx, self).await
    }
}

pub(super) async fn send_link<A: SignUpAccount>(cx: &mut Cx<'_>, form: SignUp) -> Result {
    send_sign_up_link::<A>(cx, form.email.as_str(), |to, token| match token {
        Some(token) => {
            let link = cx.absolute(NewAccountPage { token: token.into() });
            A::mail(cx, &AccountMail::SignUp { to, link: &link })
        }
        None => A::mail(cx, &AccountMail::HasAccount { to, link: &cx.absolute(SignInPage::link()) }),
    })
    .await?;
    cx.flash(texts(cx).mail_sent);
    Ok(Response::see_other(SignInPage::link()))
}

impl Handle for NewAccountPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignUpReady>().0.show(cx, self).await
    }
}

pub(super) async fn show<A: SignUpAccount>(cx: &mut Cx<'_>, page: NewAccountPage) -> Result {
    let (texts, email) = (texts(cx), address::<A>(cx, &page.token).await?);
    let content = html! {
        p { (&email) }
        form (CreateAccount::form(cx, page.token)) {
            input type="email" autocomplete="username" value=(&email) hidden readonly;
            @if A::ASKS_NAME {
                label (CreateAccount::name) { (texts.name) }
                input (CreateAccount::name) autocomplete="name";
            }
            label (CreateAccount::password) { (texts.password) }
            input (CreateAccount::password) autocomplete="new-password" aria-describedby="new-password-hint";
            p.hint #new-password-hint { (texts.password_hint) }
            button { (texts.sign_up) }
        }
    };
    show_page(cx, texts.sign_up, &content).await
}

impl Handle for CreateAccount {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.state::<SignUpReady>().0.create(cx, self).await
    }
}

pub(super) async fn create<A: SignUpAccount>(cx: &mut Cx<'_>, form: CreateAccount) -> Result {
    let (texts, password) = (texts(cx), form.password.reveal());
    let email = address::<A>(cx, &form.token).await?.trim().to_lowercase();
    let name = form.name.as_ref().map(Text::as_str).unwrap_or_default();
    if A::ASKS_NAME && name.is_empty() {
        return Err(CreateAccount::name.refuse(texts.name_missing));
    }
    if let Some(problem) = weakness(password, &[&email, name]) {
        return Err(CreateAccount::password.refuse(problem.text(cx)));
    }
    if A::find_by_email(cx, &email).await?.is_some() {
        return show_has_account::<A>(cx).await;
    }
    let password_hash = &hash_password(cx, password).await?;
    let account = match A::create(cx, NewAccount { email: &email, name, password_hash }).await {
        Ok(account) => account,
        Err(error) => return Err(taken::<A>(cx, &email, error).await?),
    };
    redeem_sign_up_link::<A>(cx, &form.token).await?.ok_or_else(|| expired(cx))?;
    let Some(account) = A::find(cx, &account.id()).await? else {
        cx.flash(texts.account_waits);
        return Ok(Response::see_other(A::signed_out()));
    };
    sign_in(cx, &account).await?;
    if account.has_second_factor() {
        return A::second_factor(cx, None);
    }
    A::signed_in(cx, &account).await?;
    Ok(Response::see_other(A::home()))
}

/// Two links to one address, of which only its owner knows.
async fn show_has_account<A: SignUpAccount>(cx: &mut Cx<'_>) -> Result {
    let texts = texts(cx);
    let content = html! { p { (texts.has_account) " " a href=(SignInPage::link()) { (texts.sign_in) } } };
    Ok(A::show(cx, texts.sign_up, &content).await?.with_status(StatusCode::CONFLICT))
}

/// The same where both were opened at once, and the unique index of the address has refused one.
async fn taken<A: SignUpAccount>(cx: &Cx<'_>, email: &str, error: Error) -> Result<Error> {
    let of_database = error.cause().and_then(|cause| cause.downcast_ref::<skep::sql::Error>());
    let is_taken = of_database.is_some_and(skep::sql::Error::is_unique_violation);
    // Another column may be unique, too.
    Ok(if is_taken && A::find_by_email(cx, email).await?.is_some() {
        error.with_status(StatusCode::CONFLICT).with_message(texts(cx).has_account)
    } else {
        error
    })
}

/// The address that a link was sent to.
async fn address<A: SignUpAccount>(cx: &Cx<'_>, token: &str) -> Result<String> {
    sign_up_address::<A>(cx, token).await?.ok_or_else(|| expired(cx))
}

fn expired(cx: &Cx<'_>) -> Error {
    Error::not_found().with_message(texts(cx).link_expired)
}
