//! Who uses the studio, who may do what, what users say of themselves, and accounts for admins.

use skep::form::Text;
use skep_people::pages::{AccountPages, ChangePasswordPage, NewAccount, SignInPage, SignUpAccount};
use skep_people::{AccessToken, Account, Fresh, rule};

use crate::browse::Week;
use crate::demo;
use crate::layout::pager;
use crate::prelude::*;

/// An account.
#[derive(Account, Debug, Row)]
#[account(table = "account", scope = "account_id", tokens = "token")]
pub struct User {
    /// The key of its row.
    pub id: i64,
    /// What it signs in with, in lower case.
    pub email: String,
    /// What others see.
    pub name: String,
    pub(crate) password: String,
    /// What it may do.
    pub role: Role,
    /// What its pages and mails are written in.
    pub language: Language,
    /// Whose clocks it reads.
    pub zone: TimeZone,
    pub(crate) random: String,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Role {
    /// Books courses.
    #[param(label = t!(role_member))]
    Member,
    /// Gives courses, too.
    #[param(label = t!(role_trainer))]
    Trainer,
    /// Appoints trainers, too.
    #[param(label = t!(role_admin))]
    Admin,
}

impl User {
    /// True for trainers and admins.
    #[must_use]
    pub fn is_staff(&self) -> bool {
        self.role != Role::Member
    }

    pub(crate) async fn with_id(db: &sql::Local, id: i64) -> Result<Option<Self>> {
        Ok(db.one(sql!(Self, "select {columns of User} from account where id = ?", id)).await?)
    }
}

rule! {
    /// Trainers and admins.
    pub Staff: |user: &User| user.is_staff();
    /// Admins alone.
    pub Admin: |user: &User| user.role == Role::Admin;
}

impl AccountPages for User {
    async fn show(cx: &mut Cx<'_>, title: &str, content: &Html) -> Result {
        let content = html! {
            div.narrow {
                h1 { (title) }
                (content)
                @if cx.uri().path() == SignInPage::link().url() { (demo::accounts(cx)) }
            }
        };
        page(cx, title, &content).await
    }

    fn home() -> impl Destination {
        Week::link()
    }
}

impl SignUpAccount for User {
    const ASKS_NAME: bool = true;

    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
        let language: Language = cx.in_language();
        let insert = sql!(
            User,
            "insert into account (email, name, password, language, zone) values (?, ?, ?, ?, ?)
             returning {columns of User}",
            new.email,
            new.name,
            new.password_hash,
            &language,
            ZONE
        );
        cx.db().one(insert).await?.or_404()
    }
}

/// What a user says of themselves, and the token with which a program acts for them.
#[handler(GET "/profile")]
pub async fn Profile(cx: &mut Cx<'_>, #[guard] user: Signed<User>) -> Result {
    let form = SaveProfile::form(cx).text(SaveProfile::name, &user.name);
    let form = form.value(SaveProfile::language, &user.language).value(SaveProfile::zone, &user.zone);
    let content = html! {
        div.reading {
            h1 { (t!(cx, profile)) }
            p.meta { (user.email) " · " (user.role.label_in(cx.language())) }
            p { a href=(ChangePasswordPage) { (t!(cx, change_password)) } }
            form (form) {
                label (SaveProfile::name) { (t!(cx, name)) }
                input (SaveProfile::name) autocomplete="name";
                label (SaveProfile::language) { (t!(cx, spoken)) }
                select (SaveProfile::language);
                label (SaveProfile::zone) { (t!(cx, zone)) }
                input (SaveProfile::zone) list="zones";
                datalist #zones {
                    @for zone in jiff::tz::db().available().filter(|zone| zone.as_str().contains('/')) {
                        option value=(zone.as_str()) {}
                    }
                }
                div.buttons { button { (t!(cx, save)) } }
            }
            form (CreateToken::form(cx)) {
                h2 { (t!(cx, token)) }
                p { (t!(cx, token_hint)) " " a href="/api.json" { "/api.json" } "." }
                button.quiet { (t!(cx, create_token)) }
            }
        }
    };
    page(cx, t!(cx, profile), &content).await
}

/// Saves it.
#[handler(POST "/profile", page = Profile::link())]
pub async fn SaveProfile(
    cx: &mut Cx<'_>,
    #[guard] user: Signed<User>,
    #[form] name: Text<1, 80>,
    #[form] language: Language,
    #[form] zone: TimeZone,
) -> Result {
    let update =
        sql!("update account set name = ?, language = ?, zone = ? where id = ?", &name, &language, &zone, user.id);
    cx.db().execute(update).await?;
    skep_language::keep_language(cx, language);
    cx.flash(t!(language, saved));
    Ok(Response::see_other(Profile::link()))
}

/// Makes a token, and shows it once. The one before ends. Who finds a browser open makes none.
#[handler(POST "/profile/token")]
pub async fn CreateToken(cx: &mut Cx<'_>, #[guard] user: Fresh<User>) -> Result {
    let mine: Scope<'_, User> = Scope::of(&user);
    let token = AccessToken::generate(&user)?;
    let db = cx.transaction().await?;
    db.execute(sql!("delete from token where account_id = ?", mine)).await?;
    let insert =
        sql!("insert into token (account_id, digest, stamp) values (?, ?, ?)", mine, &token.digest, &token.stamp);
    db.execute(insert).await?;
    cx.flash(t!(cx, token_made, token = token.shown));
    Ok(Response::see_other(Profile::link()))
}

/// All accounts.
#[handler(GET "/accounts", guard = Allowed<Admin>)]
pub async fn Accounts(cx: &mut Cx<'_>, at: Option<sql::Cursor<(String, i64)>>) -> Result {
    let select = sql!("select id, name, email, role from account order by name, id" {keyset 50: at});
    let accounts = cx.db().page(select).await?;
    let form = |id: i64, role: &str| Appoint::form(cx, id).prefixed(format!("account{id}")).text(Appoint::role, role);
    let content = html! {
        h1 { (t!(cx, accounts)) }
        @for user in &accounts {
            form.line (form(user.id, &user.role)) {
                span { strong { (user.name) } " " span.meta { (user.email) } }
                select (Appoint::role) aria-label=(t!(cx, role));
                button.quiet { (t!(cx, save)) }
            }
        }
        (pager(cx, &accounts, |at| Accounts::link().at(Some(at))))
    };
    page(cx, t!(cx, accounts), &content).await
}

/// Gives an account another role, which counts from the next request on.
#[handler(POST "/accounts/{id}")]
pub async fn Appoint(cx: &mut Cx<'_>, id: i64, #[guard] admin: Allowed<Admin>, #[form] role: Role) -> Result {
    if id == admin.id {
        // The last admin would be locked out.
        return Err(Error::conflict(t!(cx, not_yourself)));
    }
    let update = sql!("update account set role = ? where id = ?", &role, id);
    (cx.db().execute(update).await?.rows == 1).then_some(()).or_404()?;
    cx.flash(t!(cx, saved));
    Ok(Response::see_other(Accounts::link()))
}

/// Makes accounts admins, by their addresses: the first one there is.
pub(crate) fn appoint(site: &Site, addresses: &[String]) -> Result<()> {
    for email in addresses {
        site.db().write(|db| db.execute(sql!("update account set role = 'admin' where email = ?", email)))?;
    }
    Ok(())
}
