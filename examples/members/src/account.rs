//! Who may sign in.

use skep::prelude::*;
use skep::sql::Row;
use skep_people::{MailAccount, PasswordAccount, Stamp};

use crate::sign_in::SignInPage;

/// An account.
#[derive(Debug, Row)]
pub struct Account {
    /// The key of its row.
    pub id: i64,
    /// What it signs in with, in lower case.
    pub email: String,
    password: String,
    random: String,
}

impl skep_people::Account for Account {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&self.random, &self.password])
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else {
            return Ok(None);
        };
        let select = sql!(
            Self,
            "select id, email, password, random from account where id = ?",
            id
        );
        Ok(cx.db().one(select).await?)
    }

    /// Who is not signed in comes to the form, and from there back to the page.
    fn refuse(cx: &Cx<'_>) -> Error {
        let page = cx.uri().path_and_query();
        let back = page.filter(|_| cx.method() == skep::Method::GET);
        Response::see_other(SignInPage::link().back(back.map(ToString::to_string))).into()
    }
}

impl MailAccount for Account {
    async fn find_by_email(cx: &Cx<'_>, email: &str) -> Result<Option<Self>> {
        let select = sql!(
            Self,
            "select id, email, password, random from account where email = lower(?)",
            email
        );
        Ok(cx.db().one(select).await?)
    }

    fn email(&self) -> &str {
        &self.email
    }
}

impl PasswordAccount for Account {
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
        Self::find_by_email(cx, name).await
    }

    fn password_hash(&self) -> Option<&str> {
        Some(&self.password)
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        let update = sql!(
            "update account set password = ? where id = ?",
            hash,
            self.id
        );
        cx.db().execute(update).await?;
        Ok(())
    }
}
