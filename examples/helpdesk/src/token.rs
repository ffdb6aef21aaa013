//! Access tokens: what lets a program act for a user. A token is a random secret, of which a row has the digest;
//! deleting the row revokes it.

use skep::form::Text;
use skep::guard::Scope;
use skep::prelude::*;
use skep::sql::{self, Row};
use skep_people::{AccessToken, Account, Fresh, Signed, TokenAccount};

use crate::layout::moment;
use crate::profile::Profile;
use crate::texts::{Texts, texts};
use crate::user::User;

/// A token, without its secret.
#[derive(Debug, Row)]
pub struct Token {
    id: i64,
    name: String,
    created: String,
    stamp: String,
}

/// The tokens of a user that still work. That a user sees, makes and revokes no others, the compiler knows:
/// `migrations/0003_scopes.sql`.
pub async fn of(db: &sql::Local, user: &Signed<User>) -> Result<Vec<Token>> {
    let mine = Scope::<User>::of(user);
    let select = sql!(Token, "select id, name, created, stamp from token where user_id = ? order by id", mine);
    let mut tokens = db.all(select).await?;
    tokens.retain(|token| user.stamp().matches(&token.stamp));
    Ok(tokens)
}

impl TokenAccount for User {
    /// A token works for a year.
    async fn find_token(cx: &Cx<'_>, digest: &str) -> Result<Option<(String, String)>> {
        let select = sql!(
            unscoped "the token itself says whose it is";
            (i64, String),
            "select user_id, stamp from token
             where digest = ? and created > strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-1 year')",
            digest
        );
        Ok(cx.db().one(select).await?.map(|(user, stamp)| (user.to_string(), stamp)))
    }
}

/// Makes a token, and shows it once. A token lasts longer than a session, so who finds a browser open makes none.
#[derive(Service)]
#[service(POST "/profile/tokens", page = Profile::link())]
pub struct CreateToken {
    #[guard]
    user: Fresh<User>,
    #[form]
    purpose: Text<1, 80>,
}

impl Handle for CreateToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (mine, token) = (Scope::<User>::of(&self.user), AccessToken::generate(&self.user)?);
        let insert = sql!(
            "insert into token (user_id, name, digest, stamp) values (?, ?, ?, ?)",
            mine,
            &self.purpose,
            &token.digest,
            &token.stamp
        );
        cx.transaction().await?.execute(insert).await?;
        cx.flash((texts(cx.language()).token_made)(&token.shown));
        Ok(Response::see_other(Profile::link()))
    }
}

/// Revokes a token.
#[derive(Service)]
#[service(POST "/profile/tokens/{id}/revoke")]
pub struct RevokeToken {
    id: i64,
    #[guard]
    user: Signed<User>,
}

impl Handle for RevokeToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Scope::<User>::of(&self.user);
        let delete = sql!("delete from token where id = ? and user_id = ?", self.id, mine);
        let deleted = cx.transaction().await?.execute(delete).await?.rows;
        (deleted == 1).then_some(()).or_404()?;
        Ok(Response::see_other(Profile::link()))
    }
}

/// The part of the profile.
pub fn section(cx: &Cx<'_>, tokens: &[Token], t: &Texts) -> Html {
    html! {
        section {
            h2 { (t.tokens) }
            p { (t.tokens_hint) " " a href="/api.json" { "/api.json" } "." }
            @for token in tokens {
                form.line (RevokeToken::form(cx, token.id)) {
                    span { (token.name) " " span.meta { (moment(&token.created)) } }
                    button.quiet { (t.revoke) }
                }
            }
            form (CreateToken::form(cx)) {
                label (CreateToken::purpose) { (t.token_name) }
                input (CreateToken::purpose);
                div.buttons { button { (t.create_token) } }
            }
        }
    }
}
