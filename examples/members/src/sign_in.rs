//! Signing in and out.

use skep::form::{Email, Hidden, Password};
use skep::prelude::*;
use skep_people::{Signed, password_sign_in, return_to, sign_out};

use crate::account::Account;
use crate::layout::open_page;
use crate::note::Notes;
use crate::sign_up::SignUpPage;

/// The first page leads on to the notes, and so to the form for who is not signed in.
#[derive(Service)]
#[service(GET "/", open = "it leads on")]
pub struct Home;

/// The form.
#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
pub struct SignInPage {
    /// Where somebody wanted to go.
    pub back: Option<String>,
}

/// Signs in. [`password_sign_in`] limits how often an account and an address may try.
#[derive(Service)]
#[service(POST "/sign-in", page = SignInPage::link(), open = "it is how to get in")]
pub struct SignIn {
    #[form]
    back: Option<Hidden<String>>,
    #[form]
    email: Email,
    #[form]
    password: Password<1, 200>,
}

/// Signs out.
#[derive(Service)]
#[service(POST "/sign-out")]
pub struct SignOut {
    #[guard]
    _account: Signed<Account>,
}

impl Handle for Home {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::see_other(Notes { at: None }))
    }
}

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = SignIn::form(cx).value(SignIn::back, &self.back.map(Hidden));
        let content = html! {
            form (form) {
                input (SignIn::back);
                label (SignIn::email) { "E-mail" }
                input (SignIn::email) autocomplete="username";
                label (SignIn::password) { "Password" }
                input (SignIn::password) autocomplete="current-password";
                button { "Sign in" }
            }
            p { a href=(SignUpPage) { "Sign up" } " if you have no account." }
        };
        Ok(open_page(cx, "Sign in", &content))
    }
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (name, password) = (self.email.as_str(), self.password.reveal());
        match password_sign_in::<Account>(cx, name, password).await? {
            Some(_) => {
                let back = self.back.as_ref().map(|Hidden(path)| path.as_str());
                Ok(Response::see_other(return_to(back, Notes { at: None })))
            }
            None => Err(SignIn::password.refuse("E-mail address or password is wrong.")),
        }
    }
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        sign_out(cx).await?;
        Ok(Response::see_other(SignInPage::link()))
    }
}
