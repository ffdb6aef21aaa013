//! Who uses the studio, and the rules for who may do what.

use jiff::tz::TimeZone;
use skep::guard::ScopeKind;
use skep::prelude::*;
use skep::sql::Row;
use skep_language::prelude::*;
use skep_people::{Allowed, MailAccount, PasswordAccount, Rule, Stamp, TokenAccount};

use crate::Language;
use crate::sign_in::SignInPage;

/// An account.
#[derive(Debug, Row)]
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

/// Trainers and admins, as a guard.
pub type Staff = Allowed<GiveCourses>;
/// Admins, as a guard.
pub type Admin = Allowed<Administer>;

/// The rule of [`Staff`].
#[derive(Debug)]
pub struct GiveCourses;

/// The rule of [`Admin`].
#[derive(Debug)]
pub struct Administer;

impl User {
    /// True for trainers and admins.
    #[must_use]
    pub fn is_staff(&self) -> bool {
        self.role != Role::Member
    }
}

impl Rule for GiveCourses {
    type Account = User;

    async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> {
        Ok(user.is_staff())
    }
}

impl Rule for Administer {
    type Account = User;

    async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> {
        Ok(user.role == Role::Admin)
    }
}

/// A user's own rows.
impl ScopeKind for User {
    type Account = Self;
    type Id = i64;
    const COLUMNS: &'static [&'static str] = &["account_id"];

    fn id(user: &Self) -> &i64 {
        &user.id
    }
}

impl skep_people::Account for User {
    fn id(&self) -> String {
        self.id.to_string()
    }

    #[expect(clippy::misnamed_getters, reason = "the log tells people apart who share a name")]
    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&self.random, &self.password])
    }

    fn language(&self) -> Option<&str> {
        Some(self.language.tag())
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let user = cx.db().one(sql!(Self, "select {columns of User} from account where id = ?", id)).await?;
        if let Some(user) = &user {
            cx.prefer_language(user.language.value());
        }
        Ok(user)
    }

    fn refuse(cx: &Cx<'_>) -> Error {
        let wanted = cx.uri().path_and_query().filter(|_| cx.method() == skep::Method::GET);
        Response::see_other(SignInPage::link().back(wanted.map(ToString::to_string))).into()
    }

    fn refuse_stale(&self, _cx: &Cx<'_>) -> Error {
        Response::see_other(SignInPage::link().back(Some("/profile".to_owned()))).into()
    }
}

impl MailAccount for User {
    async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>> {
        let email = email.to_lowercase();
        Ok(cx.db().one(sql!(Self, "select {columns of User} from account where email = ?", email)).await?)
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
        Some(&self.password)
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        cx.db().execute(sql!("update account set password = ? where id = ?", hash, self.id)).await?;
        Ok(())
    }
}

impl TokenAccount for User {
    async fn find_token(cx: &Cx<'_>, digest: &str) -> Result<Option<(String, String)>> {
        let select = sql!(
            unscoped "the token itself says whose it is";
            (i64, String),
            "select account_id, stamp from token where digest = ?",
            digest
        );
        Ok(cx.db().one(select).await?.map(|(user, stamp)| (user.to_string(), stamp)))
    }
}
