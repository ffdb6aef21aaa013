//! What knowing its user costs a page: the same page without a session, with a value from a session, and with a guard
//! and the user's row.
//!
//! It has the flags of every Skep application. Run: `skep-accounts --listen 127.0.0.1:PORT --data DIR`, with
//! `PEOPLE_ACCOUNTS=1` for the page with the guard. `/enter` gives the cookie with which the pages are asked for.

use std::process::ExitCode;

use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Row, migrations};
use skep_people::{Account, Signed, Stamp, sign_in};

const NAME: Key<String> = Key::new("name");

const UNUSED: &str = "one run asks for accounts, another for sessions alone";

fn main() -> ExitCode {
    let has_accounts = std::env::var_os("PEOPLE_ACCOUNTS").is_some();
    skep_server::run(move || {
        let app = App::new().database(migrations!("migrations")).serve(services![Page]);
        // Sessions in a cookie are refused to an application with accounts.
        if has_accounts {
            app.serve(services![EnterAsUser, UserPage]).allow_unmounted(services![Enter, SessionPage], UNUSED)
        } else {
            app.serve(services![Enter, SessionPage]).allow_unmounted(services![EnterAsUser, UserPage], UNUSED)
        }
    })
}

#[derive(Row)]
struct User {
    id: i64,
    name: String,
    random: String,
}

impl Account for User {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn stamp(&self) -> Stamp {
        Stamp::of([&self.random])
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        Ok(cx.db().one(sql!(Self, "select id, name, random from user where id = ?", id)).await?)
    }

    fn refuse(_cx: &Cx<'_>) -> Error {
        Error::new(StatusCode::UNAUTHORIZED)
    }
}

fn page(name: &str) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { "Home" } }
            body {
                h1 { "Welcome back, " (name) }
                p { "What is new since your last visit, and what you have not read yet." }
            }
        }
    })
}

/// A page that knows nobody.
#[derive(Service)]
#[service(GET "/page")]
struct Page;

impl Handle for Page {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(page("Anna"))
    }
}

/// Starts a session.
#[derive(Service)]
#[service(GET "/enter")]
struct Enter;

impl Handle for Enter {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &"Anna".to_owned()).await?;
        Ok(page("Anna"))
    }
}

/// A page that reads a value of the session.
#[derive(Service)]
#[service(GET "/session")]
struct SessionPage;

impl Handle for SessionPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let name = cx.session().get(&NAME).await?.or_404()?;
        Ok(page(&name))
    }
}

/// Signs the user in. No real application does so without a password.
#[derive(Service)]
#[service(GET "/enter")]
struct EnterAsUser;

impl Handle for EnterAsUser {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = User::find(cx, "1").await?.or_404()?;
        sign_in(cx, &user).await?;
        Ok(page(&user.name))
    }
}

/// A page that only its user reaches, by a guard that reads the session and the user's row.
#[derive(Service)]
#[service(GET "/user")]
struct UserPage {
    #[guard]
    user: Signed<User>,
}

impl Handle for UserPage {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(page(&self.user.name))
    }
}
