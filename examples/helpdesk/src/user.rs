//! Who uses the help-desk, and the rules for who may do what.

use skep::guard::ScopeKind;
use skep::prelude::*;
use skep::sql::Row;
use skep_people::{Account, Allowed, MailAccount, PasswordAccount, Rule, Stamp};

use crate::language::Language;
use crate::sign_in::SignInPage;
use crate::texts::texts;

/// An account.
#[derive(Debug, Row)]
pub struct User {
    /// The key of its row.
    pub id: i64,
    /// What it signs in with.
    pub email: String,
    /// What others see.
    pub name: String,
    password: String,
    /// What it may do.
    pub role: Role,
    /// What its pages are written in.
    pub language: Language,
    stamp: String,
}

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Role {
    /// Reports problems, and sees its own tickets.
    #[param(label(de = "Kunde"))]
    Customer,
    /// Sees and answers all tickets.
    #[param(label(de = "Betreuer"))]
    Agent,
    /// Does that, and looks after accounts.
    #[param(label = "Administrator", label(de = "Verwalter"))]
    Admin,
}

/// An agent or an administrator, as a guard.
pub type Agent = Allowed<MayAnswer>;

/// An administrator, as a guard.
pub type Admin = Allowed<Administer>;

/// The rule of [`Agent`].
#[derive(Debug)]
pub struct MayAnswer;

/// The rule of [`Admin`].
#[derive(Debug)]
pub struct Administer;

impl User {
    /// True for agents and administrators.
    #[must_use]
    pub fn is_staff(&self) -> bool {
        self.role != Role::Customer
    }

    /// Whose tickets it sees: everybody's if that is `None`.
    #[must_use]
    pub fn sees_only(&self) -> Option<i64> {
        (!self.is_staff()).then_some(self.id)
    }
}

/// A user's own rows.
impl ScopeKind for User {
    type Account = Self;
    type Id = i64;
    const COLUMNS: &'static [&'static str] = &["user_id"];

    fn id(user: &Self) -> &i64 {
        &user.id
    }
}

impl Rule for MayAnswer {
    type Account = User;

    async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> {
        Ok(user.is_staff())
    }

    fn refuse(_user: &User, cx: &Cx<'_>) -> Error {
        Error::forbidden(texts(cx.language()).for_agents)
    }
}

impl Rule for Administer {
    type Account = User;

    async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> {
        Ok(user.role == Role::Admin)
    }

    fn refuse(_user: &User, cx: &Cx<'_>) -> Error {
        Error::forbidden(texts(cx.language()).for_admins)
    }
}

impl Account for User {
    fn id(&self) -> String {
        self.id.to_string()
    }

    #[expect(clippy::misnamed_getters, reason = "the log and the audit trail tell people apart who share a name")]
    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&self.stamp, &self.password])
    }

    fn language(&self) -> Option<&str> {
        Some(self.language.value())
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        let select = sql!(
            Self,
            "select id, email, name, password, role, language, stamp from user where id = ? and not locked",
            id
        );
        let user = cx.db().one(select).await?;
        if let Some(user) = &user {
            cx.set_language(user.language.value());
        }
        Ok(user)
    }

    fn refuse(cx: &Cx<'_>) -> Error {
        let wanted = cx.uri().path_and_query().filter(|_| cx.method() == skep::Method::GET);
        Response::see_other(SignInPage::link().back(wanted.map(ToString::to_string))).into()
    }

    /// Passkeys and tokens ask for it, and they are on the profile.
    fn refuse_stale(&self, _cx: &Cx<'_>) -> Error {
        Response::see_other(SignInPage::link().back(Some("/profile".to_owned()))).into()
    }
}

impl MailAccount for User {
    /// A locked account has its address, too: nobody signs up with that.
    async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>> {
        let select =
            sql!(Self, "select id, email, name, password, role, language, stamp from user where email = ?", email);
        Ok(cx.db().one(select).await?)
    }

    fn email(&self) -> &str {
        &self.email
    }
}

impl PasswordAccount for User {
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
        let select = sql!(
            Self,
            "select id, email, name, password, role, language, stamp from user where email = ? and not locked",
            name
        );
        Ok(cx.db().one(select).await?)
    }

    fn password_hash(&self) -> Option<&str> {
        Some(&self.password)
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        cx.db().execute(sql!("update user set password = ? where id = ?", hash, self.id)).await?;
        Ok(())
    }
}
