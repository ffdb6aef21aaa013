//! New accounts, which are customers. The address is confirmed before there is one, and only the mail says whether it
//! has one already: nobody finds out here who uses the help-desk.

use std::time::Duration;

use skep::form::{Email, Password, Text};
use skep::guard::{Limited, RateLimit};
use skep::mail::Mail;
use skep::param::Token;
use skep::prelude::*;
use skep_people::{Account, hash_password, redeem_sign_up_link, send_sign_up_link, sign_in, sign_up_address, weakness};

use crate::layout::open_page;
use crate::sign_in::SignInPage;
use crate::texts::texts;
use crate::ticket_list::TicketList;
use crate::user::User;

/// The form that asks for an address.
#[derive(Service)]
#[service(GET "/sign-up", open = "everybody may have an account")]
pub struct SignUpPage;

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let content = html! {
            .narrow {
                h1 { (t.sign_up) }
                form (SignUp::form(cx)) {
                    label (SignUp::email) { (t.email) }
                    input (SignUp::email) autocomplete="username" aria-describedby="email-hint";
                    p.hint #email-hint { (t.sign_up_hint) }
                    div.buttons { button { (t.next) } a href=(SignInPage::link()) { (t.sign_in) } }
                }
            }
        };
        Ok(open_page(cx.shared(), t.sign_up, &content))
    }
}

/// Mails that one address may ask for: five, and then one every ten minutes.
#[derive(Debug)]
pub struct SignUps;

impl RateLimit for SignUps {
    const NAME: &'static str = "sign-ups";
    const BURST: u32 = 5;
    const EACH: Duration = Duration::from_mins(10);
}

/// Sends a link to the address, or, if it has an account, a mail that says so.
#[derive(Service)]
#[service(POST "/sign-up", page = SignUpPage, open = "everybody may have an account")]
pub struct SignUp {
    #[guard]
    _limit: Limited<SignUps>,
    #[form]
    email: Email,
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        send_sign_up_link::<User>(cx, self.email.as_str(), |to, token| match token {
            Some(token) => {
                let link = cx.absolute(NewAccountPage { token: token.into() });
                Mail::new(to, t.welcome_subject, (t.welcome_mail)(&link))
            }
            None => {
                let link = cx.absolute(SignInPage::link());
                Mail::new(to, t.known_subject, (t.known_mail)(&link))
            }
        })
        .await?;
        Ok(Response::see_other(LinkSent))
    }
}

/// What everybody sees who has typed an address.
#[derive(Service)]
#[service(GET "/sign-up/sent", open = "everybody may have an account")]
pub struct LinkSent;

impl Handle for LinkSent {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let content = html! { .narrow { h1 { (t.sign_up) } p { (t.link_sent) } } };
        Ok(open_page(cx.shared(), t.sign_up, &content))
    }
}

/// Where the link of the mail leads: the form for the rest.
#[derive(Service)]
#[service(GET "/sign-up/{token}", open = "the token says who may")]
pub struct NewAccountPage {
    token: Token,
}

impl Handle for NewAccountPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let email = sign_up_address::<User>(cx, &self.token).await?;
        let email = email.ok_or_else(|| Error::not_found().with_message(t.link_used))?;
        let content = html! {
            .narrow {
                h1 { (t.sign_up) }
                p { (email) }
                form (CreateAccount::form(cx, self.token.clone())) {
                    label (CreateAccount::name) { (t.name) }
                    input (CreateAccount::name) autocomplete="name";
                    label (CreateAccount::password) { (t.password) }
                    input (CreateAccount::password) autocomplete="new-password" aria-describedby="password-hint";
                    p.hint #password-hint { (t.password_hint) }
                    div.buttons { button { (t.sign_up) } }
                }
            }
        };
        Ok(open_page(cx.shared(), t.sign_up, &content))
    }
}

/// Makes an account and signs it in.
#[derive(Service)]
#[service(POST "/sign-up/{token}", page = NewAccountPage { token }, open = "the token says who may")]
pub struct CreateAccount {
    token: Token,
    #[form]
    name: Text<1, 80>,
    #[form]
    password: Password<10, 200>,
}

impl Handle for CreateAccount {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (t, password) = (texts(cx.language()), self.password.reveal());
        let gone = || Error::not_found().with_message(t.link_used);
        let email = sign_up_address::<User>(cx, &self.token).await?.ok_or_else(gone)?;
        if let Some(problem) = weakness(password, &[self.name.as_str(), &email, "helpdesk"]) {
            return Err(CreateAccount::password.refuse(problem.text(cx)));
        }
        let hash = hash_password(cx, password).await?;
        // From here on, the link is used.
        let email = redeem_sign_up_link::<User>(cx, &self.token).await?.ok_or_else(gone)?;
        let insert = sql!(
            i64,
            "insert into user (email, name, password, language) values (?, ?, ?, ?) returning id",
            &email,
            &self.name,
            &hash,
            cx.language()
        );
        let id = match cx.db().one(insert).await {
            // Two links to one address, of which only its owner knows.
            Err(error) if error.is_unique_violation() => {
                return Err(Error::new(skep::StatusCode::CONFLICT).with_message(t.taken_email));
            }
            made => made?.or_404()?,
        };
        let user = User::find(cx, &id.to_string()).await?.or_404()?;
        sign_in(cx, &user).await?;
        Ok(Response::see_other(TicketList::link()))
    }
}
