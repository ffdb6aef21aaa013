//! Signing in and out, and the language of visitors.

use skep::form::{Email, Hidden, Password};
use skep::prelude::*;
use skep_language::prelude::*;
use skep_people::{Maybe, Signed, password_sign_in, return_to, sign_out};

use crate::account::User;
use crate::layout::page;
use crate::sign_up::SignUpPage;
use crate::week::Week;
use crate::{Language, demo};

/// The form.
#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
pub struct SignInPage {
    /// Where somebody wanted to go.
    pub back: Option<String>,
}

/// Signs in.
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
    _user: Signed<User>,
}

/// Keeps the language that somebody chooses: in a cookie, and in their account.
#[derive(Service)]
#[service(POST "/language", open = "visitors choose, too")]
pub struct ChooseLanguage {
    #[form]
    language: Language,
    #[form]
    back: Option<Hidden<String>>,
    #[state]
    user: Maybe<User>,
}

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = SignIn::form(cx).value(SignIn::back, &self.back.map(Hidden));
        let content = html! {
            div.narrow {
                h1 { (t!(cx, sign_in)) }
                form (form) {
                    input (SignIn::back);
                    label (SignIn::email) { (t!(cx, email)) }
                    input (SignIn::email) autocomplete="username";
                    label (SignIn::password) { (t!(cx, password)) }
                    input (SignIn::password) autocomplete="current-password";
                    div.buttons { button { (t!(cx, sign_in)) } a href=(SignUpPage) { (t!(cx, sign_up)) } }
                }
                (demo::accounts(cx))
            }
        };
        page(cx, t!(cx, sign_in), &content).await
    }
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match password_sign_in::<User>(cx, self.email.as_str(), self.password.reveal()).await? {
            Some(_) => {
                let back = self.back.as_ref().map(|Hidden(path)| path.as_str());
                Ok(Response::see_other(return_to(back, Week::link())))
            }
            None => Err(SignIn::password.refuse(t!(cx, wrong_password))),
        }
    }
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        sign_out(cx).await?;
        Ok(Response::see_other(Week::link()))
    }
}

impl Handle for ChooseLanguage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        skep_language::keep_language(cx, self.language);
        if let Some(user) = &*self.user {
            let update = sql!("update account set language = ? where id = ?", &self.language, user.id);
            cx.db().execute(update).await?;
        }
        let back = self.back.as_ref().map(|Hidden(path)| path.as_str());
        Ok(Response::see_other(return_to(back, Week::link())))
    }
}
