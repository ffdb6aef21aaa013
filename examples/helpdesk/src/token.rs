//! Access tokens: what lets a program act for a user. A token is a sealed number of a row; deleting the row revokes it.

use std::time::Duration;

use skep::form::Text;
use skep::guard::Scope;
use skep::people::{Account, Signed};
use skep::prelude::*;
use skep::sql::{self, Row};

use crate::layout::moment;
use crate::profile::Profile;
use crate::texts::{Texts, texts};
use crate::user::User;

/// How long a token works.
const LASTS: Duration = Duration::from_hours(24 * 365);

/// What is sealed for something else is no token.
const PURPOSE: &str = "access token";

/// A token, without its secret.
#[derive(Debug, Row)]
pub struct Token {
    id: i64,
    name: String,
    created: String,
}

/// The tokens of a user. That a user sees, makes and revokes no others, the compiler knows: `migrations/0003_scopes.sql`.
pub async fn of(db: &sql::Local, mine: Scope<'_, User>) -> Result<Vec<Token>> {
    Ok(db.all(sql!(Token, "select id, name, created from token where user_id = ? order by id", mine)).await?)
}

/// Whose token this is.
pub async fn owner(cx: &Cx<'_>, token: &str) -> Result<Option<User>> {
    let Some(id) = cx.unseal::<i64>(PURPOSE, token)? else { return Ok(None) };
    let select = sql!(unscoped "the token itself says whose it is"; i64, "select user_id from token where id = ?", id);
    let Some(user) = cx.db().one(select).await? else { return Ok(None) };
    User::find(cx, &user.to_string()).await
}

/// Makes a token, and shows it once.
#[derive(Service)]
#[service(POST "/profile/tokens", page = Profile::link())]
pub struct CreateToken {
    #[guard]
    user: Signed<User>,
    #[form]
    purpose: Text<1, 80>,
}

impl Handle for CreateToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mine = Scope::<User>::of(&self.user);
        let insert = sql!("insert into token (user_id, name) values (?, ?)", mine, &self.purpose);
        let id = cx.transaction().await?.execute(insert).await?.last_insert_id;
        let token = cx.seal(PURPOSE, &id, LASTS)?;
        cx.flash((texts(cx.language()).token_made)(&token));
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
