//! The pages around accounts, as an application has them. `docs/guides/people/sign-up.md` quotes this file.

use skep::form::{Email, Password, Text};
use skep::mail::Mail;
use skep::param::Token;
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Row, migrations};
use skep_people::{
    Account, Fresh, MailAccount, PasswordAccount, PasswordCost, RecoveryCodes, SecurityEvent, SecurityLog, Signed,
    Stamp, Totp, TotpAccount, awaiting_second_factor, change_password, confirm_totp, end_session, hash_password,
    password_sign_in, redeem_confirmation_link, redeem_reset_link, redeem_sign_in_link, redeem_sign_up_link, remember,
    second_factor_sign_in, send_confirmation_link, send_reset_link, send_sign_in_link, send_sign_up_link, sign_in,
    sign_out, sign_out_everywhere, sign_up_address, user_sessions, weakness,
};

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/accounts"; $($input)*) } }

#[derive(Debug, Row)]
pub(crate) struct User {
    id: i64,
    email: String,
    password: Option<String>,
    random: String,
    totp: Option<String>,
}

impl Account for User {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&*self.random, self.password.as_deref().unwrap_or_default()])
    }

    fn language(&self) -> Option<&str> {
        (self.email.rsplit_once('.')?.1 == "de").then_some("de")
    }

    fn has_second_factor(&self) -> bool {
        self.totp.is_some()
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        Ok(cx.db().one(sql!(Self, "select id, email, password, random, totp from user where id = ?", id)).await?)
    }
}

impl MailAccount for User {
    async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>> {
        let select = sql!(Self, "select id, email, password, random, totp from user where email = lower(?)", email);
        Ok(cx.db().one(select).await?)
    }

    fn email(&self) -> &str {
        &self.email
    }
}

impl PasswordAccount for User {
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
        Self::find_by_email(cx, name).await
    }

    fn password_hash(&self) -> Option<&str> {
        self.password.as_deref()
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        cx.db().execute(sql!("update user set password = ? where id = ?", hash, self.id)).await?;
        Ok(())
    }
}

// ---- sign up ----

#[derive(Service)]
#[service(POST "/sign-up", open = "everybody may")]
struct SignUp {
    #[form]
    email: Email,
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        send_sign_up_link::<User>(cx, self.email.as_str(), |to, token| match token {
            Some(token) => {
                let link = cx.absolute(SignUpPage { token: token.into() });
                Mail::new(to, "Welcome", format!("Go on here: {link}"))
            }
            None => Mail::new(to, "You have an account", "Somebody, perhaps you, wanted to sign up with this address."),
        })
        .await?;
        Ok(Response::text("We have sent you a mail."))
    }
}

#[derive(Service)]
#[service(GET "/sign-up/{token}", open = "the token says who may")]
struct SignUpPage {
    token: Token,
}

impl Handle for SignUpPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let email = sign_up_address::<User>(cx, &self.token).await?.or_404()?;
        Ok(Response::html(html! {
            p { "A password for " (email) }
            form (ChoosePassword::form(cx, self.token.clone())) {
                input (ChoosePassword::password);
                button { "Sign up" }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/sign-up/{token}", page = SignUpPage { token }, open = "the token says who may")]
struct ChoosePassword {
    token: Token,
    #[form]
    password: Password<10, 200>,
}

impl Handle for ChoosePassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let email = sign_up_address::<User>(cx, &self.token).await?.or_404()?;
        if let Some(problem) = weakness(self.password.reveal(), &[&email]) {
            return Err(ChoosePassword::password.refuse(problem.text(cx)));
        }
        let hash = hash_password(cx, self.password.reveal()).await?;
        // From here on, the link is used.
        let email = redeem_sign_up_link::<User>(cx, &self.token).await?.or_404()?;
        let insert = sql!(
            User,
            "insert into user (email, password) values (lower(?), ?) returning id, email, password, random, totp",
            email,
            hash
        );
        let user = cx.db().one(insert).await?.or_404()?;
        sign_in(cx, &user).await?;
        Ok(Response::text("welcome"))
    }
}

// ---- sign in ----

#[derive(Service)]
#[service(POST "/sign-in", open = "it is how to get in")]
struct SignIn {
    #[form]
    email: Email,
    #[form]
    password: Password<1, 200>,
    #[form]
    remember: bool,
}

/// A user who wants to be remembered may have to show a second factor first.
const REMEMBER: Key<bool> = Key::new("remember").kept_at_sign_in();

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = password_sign_in::<User>(cx, self.email.as_str(), self.password.reveal()).await?;
        let Some(user) = user else { return Err(SignIn::password.refuse("E-mail address or password is wrong.")) };
        if user.has_second_factor() {
            cx.session().set(&REMEMBER, &self.remember).await?;
            return Ok(Response::text("your code, please"));
        }
        if self.remember {
            remember(cx, &user).await?;
        }
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(POST "/sign-in/code", open = "it is how to get in")]
struct SecondFactor {
    #[form]
    code: Text<6, 30>,
}

impl Handle for SecondFactor {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Some(user) = second_factor_sign_in::<User>(cx, self.code.as_str()).await? else {
            return Err(SecondFactor::code.refuse("This code is wrong, or was used before."));
        };
        if cx.session().get(&REMEMBER).await?.unwrap_or(false) {
            remember(cx, &user).await?;
        }
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(GET "/sign-in/code", open = "it is how to get in")]
struct SecondFactorPage;

impl Handle for SecondFactorPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = awaiting_second_factor::<User>(cx).await?.or_404()?;
        Ok(Response::text(format!("a code for {}", user.email)))
    }
}

// ---- magic links ----

#[derive(Service)]
#[service(POST "/sign-in/link", open = "it is how to get in")]
struct RequestLink {
    #[form]
    email: Email,
}

impl Handle for RequestLink {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        send_sign_in_link::<User>(cx, self.email.as_str(), |to, token| {
            let link = cx.absolute(LinkPage { token: token.into() });
            Mail::new(to, "Sign in", format!("Open this link to sign in: {link}"))
        })
        .await?;
        Ok(Response::text("If there is an account, a mail is on its way."))
    }
}

#[derive(Service)]
#[service(GET "/sign-in/link/{token}", open = "the token says who may")]
struct LinkPage {
    token: Token,
}

impl Handle for LinkPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        // Programs that look at mail open this page, too; they press no button.
        Ok(Response::html(html! { form (OpenLink::form(cx, self.token)) { button { "Sign in" } } }))
    }
}

#[derive(Service)]
#[service(POST "/sign-in/link/{token}", open = "the token says who may")]
struct OpenLink {
    token: Token,
}

impl Handle for OpenLink {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match redeem_sign_in_link::<User>(cx, &self.token).await? {
            Some(_user) => Ok(Response::text("welcome")),
            None => Err(Error::forbidden("This link was used, or is too old. Please ask for a new one.")),
        }
    }
}

// ---- passwords ----

#[derive(Service)]
#[service(POST "/reset", open = "it is how to get in")]
struct RequestReset {
    #[form]
    email: Email,
}

impl Handle for RequestReset {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        send_reset_link::<User>(cx, self.email.as_str(), |to, token| {
            let link = cx.absolute(Reset { token: token.into() }.at("form"));
            Mail::new(to, "A new password", format!("Choose a new password: {link}"))
        })
        .await?;
        Ok(Response::text("If there is an account, a mail is on its way."))
    }
}

#[derive(Service)]
#[service(GET "/reset/{token}", open = "the token says who may")]
struct Reset {
    token: Token,
}

impl Handle for Reset {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        skep_people::reset_link_account::<User>(cx, &self.token).await?.or_404()?;
        Ok(Response::html(html! {
            form (SetPassword::form(cx, self.token)) { input (SetPassword::password); button { "Save" } }
        }))
    }
}

#[derive(Service)]
#[service(POST "/reset/{token}", page = Reset { token }, open = "the token says who may")]
struct SetPassword {
    token: Token,
    #[form]
    password: Password<10, 200>,
}

impl Handle for SetPassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if let Some(problem) = weakness(self.password.reveal(), &[]) {
            return Err(SetPassword::password.refuse(problem.text(cx)));
        }
        redeem_reset_link::<User>(cx, &self.token, self.password.reveal()).await?.or_404()?;
        Ok(Response::text("Please sign in with your new password."))
    }
}

#[derive(Service)]
#[service(POST "/password")]
struct ChangePassword {
    #[guard]
    user: Signed<User>,
    #[form]
    old: Password<1, 200>,
    #[form]
    new: Password<10, 200>,
}

impl Handle for ChangePassword {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if !change_password(cx, &*self.user, self.old.reveal(), self.new.reveal()).await? {
            return Err(ChangePassword::old.refuse("This is not your password."));
        }
        Ok(Response::text("changed"))
    }
}

// ---- addresses ----

#[derive(Service)]
#[service(POST "/email")]
struct ChangeEmail {
    #[guard]
    user: Fresh<User>,
    #[form]
    email: Email,
}

impl Handle for ChangeEmail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        send_confirmation_link(cx, &*self.user, self.email.as_str(), |to, token| {
            let link = cx.absolute(ConfirmPage { token: token.into() });
            Mail::new(to, "Your new address", format!("Confirm it: {link}"))
        })
        .await?;
        cx.queue_mail(Mail::new(self.user.email(), "Your address", "Somebody, hopefully you, changes your address."));
        Ok(Response::text("We have sent you a mail."))
    }
}

#[derive(Service)]
#[service(GET "/email/{token}", open = "the token says who may")]
struct ConfirmPage {
    token: Token,
}

impl Handle for ConfirmPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { form (ConfirmEmail::form(cx, self.token)) { button { "Confirm" } } }))
    }
}

#[derive(Service)]
#[service(POST "/email/{token}", open = "the token says who may")]
struct ConfirmEmail {
    token: Token,
}

impl Handle for ConfirmEmail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (user, email) = redeem_confirmation_link::<User>(cx, &self.token).await?.or_404()?;
        cx.db().execute(sql!("update user set email = lower(?) where id = ?", email, user.id)).await?;
        Ok(Response::text("confirmed"))
    }
}

// ---- two factors ----

/// Until a code shows that the user has it.
const NEW_TOTP: Key<String> = Key::new("new-totp");

#[derive(Service)]
#[service(GET "/second-factor")]
struct SetUpSecondFactor {
    #[guard]
    user: Fresh<User>,
}

impl Handle for SetUpSecondFactor {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let totp = Totp::generate()?;
        cx.session().set(&NEW_TOTP, &totp.seal(cx, &*self.user)?).await?;
        // As a QR code; crates such as `qrcode` draw one.
        Ok(Response::text(totp.uri("Shop", self.user.email())))
    }
}

#[derive(Service)]
#[service(POST "/second-factor")]
struct TurnOnSecondFactor {
    #[guard]
    user: Fresh<User>,
    #[form]
    code: Text<6, 10>,
}

impl Handle for TurnOnSecondFactor {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let sealed = cx.session().get(&NEW_TOTP).await?.or_404()?;
        let totp = Totp::open(cx, &*self.user, &sealed)?;
        if !confirm_totp(cx, &*self.user, &totp, self.code.as_str()).await? {
            return Err(TurnOnSecondFactor::code.refuse("This code is wrong."));
        }
        let (user, codes) = (self.user.id, RecoveryCodes::generate()?);
        let db = cx.transaction().await?;
        db.execute(sql!("update user set totp = ? where id = ?", sealed, user)).await?;
        for hash in &codes.hashes {
            db.execute(sql!("insert into recovery_code (user, hash) values (?, ?)", user, hash)).await?;
        }
        cx.session().remove(&NEW_TOTP).await?;
        // The one time that they are shown.
        Ok(Response::text(codes.shown.join("\n")))
    }
}

impl TotpAccount for User {
    fn sealed_totp(&self) -> Option<&str> {
        self.totp.as_deref()
    }

    async fn take_recovery_code(&self, cx: &Cx<'_>, hash: &str) -> Result<bool> {
        let delete = sql!("delete from recovery_code where user = ? and hash = ?", self.id, hash);
        Ok(cx.db().execute(delete).await?.rows == 1)
    }
}

// ---- sessions ----

#[derive(Service)]
#[service(GET "/sessions")]
struct Sessions {
    #[guard]
    user: Signed<User>,
}

impl Handle for Sessions {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let sessions = user_sessions(cx, &*self.user).await?;
        Ok(Response::html(html! {
            ul {
                @for session in &sessions {
                    li {
                        (session.device)
                        @if session.is_current { " (this one)" }
                        form (EndSession::form(cx, session.id.clone())) { button { "Sign out" } }
                    }
                }
            }
        }))
    }
}

#[derive(Service)]
#[service(POST "/sessions/{id}/end")]
struct EndSession {
    id: String,
    #[guard]
    user: Signed<User>,
}

impl Handle for EndSession {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        end_session(cx, &*self.user, &self.id).await?.then_some(()).or_404()?;
        Ok(Response::text("ended"))
    }
}

#[derive(Service)]
#[service(POST "/sign-out")]
struct SignOut {
    #[guard]
    user: Signed<User>,
    everywhere: Option<bool>,
}

impl Handle for SignOut {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match self.everywhere {
            Some(true) => sign_out_everywhere(cx, &*self.user).await?,
            _ => sign_out(cx).await?,
        }
        Ok(Response::text("bye"))
    }
}

#[derive(Service)]
#[service(GET "/profile")]
struct Profile {
    #[guard]
    user: Signed<User>,
}

impl Handle for Profile {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.user.email.clone()))
    }
}

#[derive(Service)]
#[service(GET "/delete")]
struct Delete {
    #[guard]
    user: Fresh<User>,
}

impl Handle for Delete {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("deleted {}", self.user.email)))
    }
}

// ---- the application ----

async fn store(cx: &Cx<'_>, event: &SecurityEvent) -> Result<()> {
    let (kind, account, path) = (event.kind.as_str(), &event.account, &event.path);
    let insert = sql!("insert into security_event (kind, account, path) values (?, ?, ?)", kind, account, path);
    cx.db().execute(insert).await?;
    Ok(())
}

pub(crate) fn app() -> App {
    let mut cheap = PasswordCost::default();
    (cheap.memory, cheap.passes) = (64, 1);
    App::new()
        .database(migrations!("tests/sql/accounts"))
        .state(cheap)
        .state(SecurityLog::new(store))
        .serve(services![SignUp, SignUpPage, ChoosePassword, SignIn, SecondFactor, SecondFactorPage])
        .serve(services![RequestLink, LinkPage, OpenLink, RequestReset, Reset, SetPassword, ChangePassword])
        .serve(services![ChangeEmail, ConfirmPage, ConfirmEmail, SetUpSecondFactor, TurnOnSecondFactor])
        .serve(services![Sessions, EndSession, SignOut, Profile, Delete])
        .require::<Signed<User>>()
}
