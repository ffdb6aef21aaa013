//! Who may write: accounts with a password. The first one comes from the settings `blog.author` and
//! `blog.author_password`.

use skep::Site;
use skep::prelude::*;
use skep::sql::Row;
use skep_people::{Account, HashPassword, PasswordAccount, Stamp};

use crate::settings::Blog;
use crate::sign_in::SignInPage;

/// An author.
#[derive(Debug, Row)]
pub struct Author {
    id: i64,
    /// What it signs in with.
    pub email: String,
    /// What others see.
    pub name: String,
    password: String,
}

impl Account for Author {
    fn id(&self) -> String {
        self.id.to_string()
    }

    #[expect(clippy::misnamed_getters, reason = "the log tells people apart who share a name")]
    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&self.password])
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        Ok(cx.db().one(sql!(Self, "select id, email, name, password from author where id = ?", id)).await?)
    }

    fn refuse(_cx: &Cx<'_>) -> Error {
        Response::see_other(SignInPage).into()
    }
}

impl PasswordAccount for Author {
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
        Ok(cx.db().one(sql!(Self, "select id, email, name, password from author where email = ?", name)).await?)
    }

    fn password_hash(&self) -> Option<&str> {
        Some(&self.password)
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        cx.db().execute(sql!("update author set password = ? where id = ?", hash, self.id)).await?;
        Ok(())
    }
}

/// Before the first request: the author that the settings name, unless one has that address.
pub fn found(site: &Site) -> Result<()> {
    let Blog { author: Some(email), author_password: Some(password), .. } = site.settings::<Blog>() else {
        return Ok(());
    };
    let name = email.split('@').next().unwrap_or(email);
    let hash = site.hash_password(password)?;
    let row = sql!("insert or ignore into author (email, name, password) values (?, ?, ?)", email, name, hash);
    site.db().write(|db| db.execute(row))?;
    Ok(())
}
