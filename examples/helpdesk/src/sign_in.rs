//! Signing in and out.

use skep::form::{Email, Hidden, Password};
use skep::prelude::*;
use skep_people::{Maybe, Signed, password_sign_in, return_to, sign_out};

use crate::demo;
use crate::layout::open_page;
use crate::passkey;
use crate::settings::Helpdesk;
use crate::sign_up::SignUpPage;
use crate::status_page::StatusPage;
use crate::texts::texts;
use crate::ticket_list::TicketList;
use crate::user::User;

/// The way in.
#[derive(Service)]
#[service(GET "/", open = "it leads on, to the tickets or to the page for everybody")]
pub struct Home {
    #[state]
    user: Maybe<User>,
}

impl Handle for Home {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(match *self.user {
            Some(_) => Response::see_other(TicketList::link()),
            None => Response::see_other(StatusPage),
        })
    }
}

/// The form to sign in with.
#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
pub struct SignInPage {
    /// Where the user wanted to go.
    pub back: Option<String>,
}

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let back = self.back.map(Hidden);
        let form = SignIn::form(cx).value(SignIn::back, &back);
        let demo = cx.settings::<Helpdesk>().is_demo();
        Ok(open_page(
            cx.shared(),
            t.sign_in,
            &html! {
                .narrow {
                    h1 { (t.sign_in) }
                    form (form) {
                        input (SignIn::back);
                        label (SignIn::email) { (t.email) }
                        input (SignIn::email) autocomplete="username webauthn";
                        label (SignIn::password) { (t.password) }
                        input (SignIn::password) autocomplete="current-password";
                        div.buttons { button { (t.sign_in) } a href=(SignUpPage) { (t.sign_up) } }
                    }
                    (passkey::entrance(cx, back, t))
                    @if demo { (demo::accounts(t)) }
                }
            },
        ))
    }
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

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match password_sign_in::<User>(cx, self.email.as_str(), self.password.reveal()).await? {
            Some(_) => {
                let wanted = self.back.as_ref().map(|Hidden(path)| path.as_str());
                Ok(Response::see_other(return_to(wanted, TicketList::link())))
            }
            None => Err(SignIn::password.refuse(texts(cx.language()).wrong_password)),
        }
    }
}

/// Signs out.
#[derive(Service)]
#[service(POST "/sign-out")]
pub struct SignOut {
    #[guard]
    _user: Signed<User>,
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        sign_out(cx).await?;
        Ok(Response::see_other(SignInPage::link()))
    }
}
