//! New accounts. The address is confirmed before there is one, and only the mail says whether it has one already.
//!
//! In development, the mail is in the log, with its link. For others, set `mail.smtp`, `mail.from` and `base_url`, and
//! turn on the feature `smtp` of `skep-server`.

use skep::form::{Email, Password};
use skep::mail::Mail;
use skep::param::Token;
use skep::prelude::*;
use skep_people::{
    Account as _, hash_password, redeem_sign_up_link, send_sign_up_link, sign_in, sign_up_address,
    weakness,
};

use crate::account::Account;
use crate::layout::open_page;
use crate::note::Notes;
use crate::sign_in::SignInPage;

/// The form that asks for an address.
#[derive(Service)]
#[service(GET "/sign-up", open = "everybody may have an account")]
pub struct SignUpPage;

/// Sends a link to the address, or, if it has an account, a mail that says so.
#[derive(Service)]
#[service(POST "/sign-up", page = SignUpPage, open = "everybody may have an account")]
pub struct SignUp {
    #[form]
    email: Email,
}

/// What everybody sees who has typed an address.
#[derive(Service)]
#[service(GET "/sign-up/sent", open = "everybody may have an account")]
pub struct LinkSent;

/// Where the link of the mail leads.
#[derive(Service)]
#[service(GET "/sign-up/{token}", open = "the token says who may")]
pub struct PasswordPage {
    token: Token,
}

/// Makes the account, and signs it in.
#[derive(Service)]
#[service(POST "/sign-up/{token}", page = PasswordPage { token }, open = "the token says who may")]
pub struct ChoosePassword {
    token: Token,
    #[form]
    password: Password<10, 200>,
}

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = SignUp::form(cx);
        let content = html! {
            p { "We send you a link, with which you choose a password." }
            form (form) {
                label (SignUp::email) { "E-mail" }
                input (SignUp::email) autocomplete="username";
                button { "Sign up" }
            }
            p { a href=(SignInPage::link()) { "Sign in" } " if you have an account." }
        };
        Ok(open_page(cx, "Sign up", &content))
    }
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let email = self.email.as_str();
        send_sign_up_link::<Account>(cx, email, |to, token| match token {
            Some(token) => {
                let token = token.into();
                let link = cx.absolute(PasswordPage { token });
                Mail::new(to, "Welcome", format!("Go on here: {link}"))
            }
            None => {
                let link = cx.absolute(SignInPage::link());
                let text = format!("You have an account already. Sign in: {link}");
                Mail::new(to, "You have an account", text)
            }
        })
        .await?;
        Ok(Response::see_other(LinkSent))
    }
}

impl Handle for LinkSent {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! { p { "We have sent you a mail." } };
        Ok(open_page(cx, "Sign up", &content))
    }
}

impl Handle for PasswordPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let email = sign_up_address::<Account>(cx, &self.token).await?;
        let email = email.or_404()?;
        let form = ChoosePassword::form(cx, self.token.clone());
        let content = html! {
            p { "A password for " (email) }
            form (form) {
                label (ChoosePassword::password) { "Password" }
                input (ChoosePassword::password) autocomplete="new-password" aria-describedby="hint";
                p.hint #hint { "Ten characters at least." }
                button { "Sign up" }
            }
        };
        Ok(open_page(cx, "Choose a password", &content))
    }
}

impl Handle for ChoosePassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let password = self.password.reveal();
        let email = sign_up_address::<Account>(cx, &self.token).await?;
        let email = email.or_404()?;
        if let Some(problem) = weakness(password, &[&email]) {
            return Err(ChoosePassword::password.refuse(problem.text(cx)));
        }
        let hash = hash_password(cx, password).await?;
        // From here on, the link is used.
        let email = redeem_sign_up_link::<Account>(cx, &self.token).await?;
        let email = email.or_404()?;
        let insert = sql!(
            i64,
            "insert into account (email, password) values (lower(?), ?) returning id",
            &email,
            &hash
        );
        let id = match cx.db().one(insert).await {
            // Two links to one address, of which only its owner knows.
            Err(error) if error.is_unique_violation() => {
                return Err(Error::conflict("This address has an account already."));
            }
            made => made?.or_404()?,
        };
        let account = Account::find(cx, &id.to_string()).await?.or_404()?;
        sign_in(cx, &account).await?;
        Ok(Response::see_other(Notes { at: None }))
    }
}
