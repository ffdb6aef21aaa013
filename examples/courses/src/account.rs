//! Who uses the studio, and the rules for who may do what.

use jiff::tz::TimeZone;
use skep::link::Destination;
use skep::prelude::*;
use skep::sql::Row;
use skep_language::InLanguage;
use skep_language::prelude::*;
use skep_people::pages::{AccountPages, NewAccount, SignInPage, SignUpAccount};
use skep_people::{Account, rule};

use crate::layout::page;
use crate::week::Week;
use crate::{Language, ZONE, demo};

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
