//! New accounts, which are customers.

use std::time::Duration;

use skep::form::{Email, Password, Text};
use skep::guard::RateLimit;
use skep::people::{Account, hash_password, sign_in, weakness};
use skep::prelude::*;

use crate::layout::open_page;
use crate::sign_in::SignInPage;
use crate::texts::texts;
use crate::ticket_list::TicketList;
use crate::user::User;

/// The form for a new account.
#[derive(Service)]
#[service(GET "/sign-up", open = "everybody may have an account")]
pub struct SignUpPage;

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        Ok(open_page(
            cx.shared(),
            t.sign_up,
            &html! {
                .narrow {
                    h1 { (t.sign_up) }
                    form (SignUp::form(cx)) {
                        label (SignUp::name) { (t.name) }
                        input (SignUp::name) autocomplete="name";
                        label (SignUp::email) { (t.email) }
                        input (SignUp::email) autocomplete="username";
                        label (SignUp::password) { (t.password) }
                        input (SignUp::password) autocomplete="new-password" aria-describedby="password-hint";
                        p.hint #password-hint { (t.password_hint) }
                        div.buttons { button { (t.sign_up) } a href=(SignInPage::link()) { (t.sign_in) } }
                    }
                }
            },
        ))
    }
}

/// Accounts that one address may make: five, and then one every ten minutes.
#[derive(Debug)]
pub struct SignUps;

impl RateLimit for SignUps {
    const NAME: &'static str = "sign-ups";
    const BURST: u32 = 5;
    const EACH: Duration = Duration::from_mins(10);
}

/// Makes an account and signs it in.
#[derive(Service)]
#[service(POST "/sign-up", page = SignUpPage, open = "everybody may have an account")]
pub struct SignUp {
    #[form]
    name: Text<1, 80>,
    #[form]
    email: Email,
    #[form]
    password: Password<10, 200>,
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let password = self.password.reveal();
        if weakness(password, &[self.name.as_str(), self.email.as_str(), "helpdesk"]).is_some() {
            return Err(SignUp::password.refuse(texts(cx.language()).weak_password));
        }
        let hash = hash_password(cx, password).await?;
        let insert = sql!(
            i64,
            "insert into user (email, name, password, language) values (?, ?, ?, ?) returning id",
            &self.email,
            &self.name,
            &hash,
            cx.language()
        );
        let id = match cx.db().one(insert).await {
            Err(error) if error.is_unique_violation() => {
                return Err(SignUp::email.refuse(texts(cx.language()).taken_email));
            }
            made => made?.or_404()?,
        };
        let user = User::find(cx, &id.to_string()).await?.or_404()?;
        sign_in(cx, &user).await?;
        Ok(Response::see_other(TicketList::link()))
    }
}
