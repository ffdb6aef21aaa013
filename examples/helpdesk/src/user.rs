//! Who uses the help-desk, and the rules for who may do what.

use skep::prelude::*;
use skep::sql::Row;
use skep_people::{Account, Allowed, Rule};

use crate::language::Language;
use crate::sign_in::SignInPage;
use crate::texts::texts;

/// An account. One that is locked does not sign in.
#[derive(Account, Debug, Row)]
#[account(table = "user", filter = "not locked", scope = "user_id")]
#[account(refuse = to_sign_in, refuse_stale = to_profile)]
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
    #[account(random)]
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

/// To the form, and from there back.
fn to_sign_in(cx: &Cx<'_>) -> Error {
    let wanted = cx.uri().path_and_query().filter(|_| cx.method() == skep::Method::GET);
    Response::see_other(SignInPage::link().back(wanted.map(ToString::to_string))).into()
}

/// Passkeys and tokens ask for a fresh proof, and they are on the profile.
fn to_profile(_user: &User, _cx: &Cx<'_>) -> Error {
    Response::see_other(SignInPage::link().back(Some("/profile".to_owned()))).into()
}
