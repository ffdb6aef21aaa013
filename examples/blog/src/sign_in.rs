//! Signing in and out, for authors.

use skep::form::{Email, Password};
use skep::prelude::*;
use skep_people::{Signed, password_sign_in, sign_out};

use crate::author::Author;
use crate::desk::Desk;
use crate::index::Index;
use crate::layout::page;

/// The form to sign in with.
#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
pub struct SignInPage;

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(page(
            "Sign in",
            &html! {
                h1 { "Sign in" }
                p { "For authors. Readers need no account." }
                form (SignIn::form(cx)) {
                    label (SignIn::email) { "E-mail" }
                    input (SignIn::email) autocomplete="username";
                    label (SignIn::password) { "Password" }
                    input (SignIn::password) autocomplete="current-password";
                    div.buttons { button { "Sign in" } }
                }
            },
        ))
    }
}

/// Signs in. [`password_sign_in`] limits how often an account and an address may try.
#[derive(Service)]
#[service(POST "/sign-in", page = SignInPage, open = "it is how to get in")]
pub struct SignIn {
    #[form]
    email: Email,
    #[form]
    password: Password<1, 200>,
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match password_sign_in::<Author>(cx, self.email.as_str(), self.password.reveal()).await? {
            Some(_) => Ok(Response::see_other(Desk::link())),
            None => Err(SignIn::password.refuse("E-mail address or password is wrong.")),
        }
    }
}

/// Signs out.
#[derive(Service)]
#[service(POST "/sign-out")]
pub struct SignOut {
    #[guard]
    _author: Signed<Author>,
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        sign_out(cx).await?;
        Ok(Response::see_other(Index { page: 1 }))
    }
}
