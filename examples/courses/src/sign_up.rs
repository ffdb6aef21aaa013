//! New accounts. The address is confirmed before there is one, and only the mail says whether it has one already.

use skep::form::{Email, Password, Text};
use skep::mail::Mail;
use skep::param::Token;
use skep::prelude::*;
use skep_language::InLanguage;
use skep_language::prelude::*;
use skep_people::{hash_password, redeem_sign_up_link, send_sign_up_link, sign_in, sign_up_address, weakness};

use crate::account::User;
use crate::layout::page;
use crate::sign_in::SignInPage;
use crate::week::Week;
use crate::{Language, ZONE};

/// The form that asks for an address.
#[derive(Service)]
#[service(GET "/sign-up", open = "everybody may have an account")]
pub struct SignUpPage;

/// Sends a link to the address, or, if it has an account, a mail that says so.
#[derive(Service)]
#[service(POST "/sign-up", page = SignUpPage, open = "everybody may have an account")]
pub struct SignUp {
    /// Where the link goes.
    #[form]
    pub email: Email,
}

/// Where the link of the mail leads.
#[derive(Service)]
#[service(GET "/sign-up/{token}", open = "the token says who may")]
pub struct NewAccount {
    token: Token,
}

/// Makes the account, and signs it in.
#[derive(Service)]
#[service(POST "/sign-up/{token}", page = NewAccount::link(token), open = "the token says who may")]
pub struct CreateAccount {
    token: Token,
    /// What others see.
    #[form]
    pub name: Text<1, 80>,
    /// What it signs in with.
    #[form]
    pub password: Password<10, 200>,
}

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! {
            div.narrow {
                h1 { (t!(cx, sign_up)) }
                p { (t!(cx, sign_up_hint)) }
                form (SignUp::form(cx)) {
                    label (SignUp::email) { (t!(cx, email)) }
                    input (SignUp::email) autocomplete="username";
                    div.buttons { button { (t!(cx, sign_up)) } a href=(SignInPage::link()) { (t!(cx, sign_in)) } }
                }
            }
        };
        page(cx, t!(cx, sign_up), &content).await
    }
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        send_sign_up_link::<User>(cx, self.email.as_str(), |to, token| match token {
            Some(token) => {
                let link = cx.absolute(NewAccount::link(token.into()));
                Mail::new(to, t!(cx, mail_welcome), t!(cx, mail_go_on, link))
            }
            None => {
                let link = cx.absolute(SignInPage::link());
                Mail::new(to, t!(cx, mail_has_account), t!(cx, mail_go_on, link))
            }
        })
        .await?;
        cx.flash(t!(cx, link_sent));
        Ok(Response::see_other(SignInPage::link()))
    }
}

impl Handle for NewAccount {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let email = sign_up_address::<User>(cx, &self.token).await?.or_404()?;
        let content = html! {
            div.narrow {
                h1 { (t!(cx, sign_up)) }
                p.meta { (email) }
                form (CreateAccount::form(cx, self.token.clone())) {
                    label (CreateAccount::name) { (t!(cx, name)) }
                    input (CreateAccount::name) autocomplete="name";
                    label (CreateAccount::password) { (t!(cx, password)) }
                    input (CreateAccount::password) autocomplete="new-password" aria-describedby="hint";
                    p.hint #hint { (t!(cx, password_hint)) }
                    div.buttons { button { (t!(cx, sign_up)) } }
                }
            }
        };
        page(cx, t!(cx, sign_up), &content).await
    }
}

impl Handle for CreateAccount {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let password = self.password.reveal();
        let email = sign_up_address::<User>(cx, &self.token).await?.or_404()?;
        if let Some(problem) = weakness(password, &[&email, self.name.as_str()]) {
            return Err(Self::password.refuse(problem.text(cx)));
        }
        let hash = hash_password(cx, password).await?;
        // From here on, the link is used.
        let email = redeem_sign_up_link::<User>(cx, &self.token).await?.or_404()?.to_lowercase();
        let language: Language = cx.in_language();
        let insert = sql!(
            User,
            "insert into account (email, name, password, language, zone) values (?, ?, ?, ?, ?)
             returning {columns of User}",
            &email,
            &self.name,
            &hash,
            &language,
            ZONE
        );
        let user = match cx.db().one(insert).await {
            // Two links to one address, of which only its owner knows.
            Err(error) if error.is_unique_violation() => return Err(Error::conflict(t!(cx, mail_has_account))),
            made => made?.or_404()?,
        };
        sign_in(cx, &user).await?;
        Ok(Response::see_other(Week::link()))
    }
}
