//! An application whose users sign in with a provider. `docs/guides/people/oidc.md` quotes this file.

use skep::Secret;
use skep::form::Messages;
use skep::prelude::*;
use skep::settings::Settings;
use skep::sql::{Row, migrations};
use skep_people::oidc::{Claims, Provider};
use skep_people::{Account, Fresh, Signed, Stamp};

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/oidc"; $($input)*) } }

/// `[login]` in skep.toml
#[derive(Settings)]
#[settings(table = "login")]
struct Login {
    /// The issuer URL of the provider.
    issuer: String,
    /// What the provider calls this application.
    client_id: String,
    /// The secret that the provider gave to this application.
    client_secret: Option<Secret<String>>,
}

fn provider(cx: &Cx<'_>) -> Provider {
    let login = cx.settings::<Login>();
    let provider = Provider::new("Example", &login.issuer, &login.client_id);
    match &login.client_secret {
        Some(secret) => provider.secret(secret.clone()),
        None => provider,
    }
}

#[derive(Debug, Row)]
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

    fn refuse_stale(&self, _cx: &Cx<'_>) -> Error {
        Response::see_other(SignInAgain).into()
    }
}

impl User {
    /// Whom the provider means: by issuer and subject, and by nothing else.
    async fn of(cx: &Cx<'_>, claims: &Claims) -> Result<Option<Self>> {
        let (issuer, subject) = (claims.issuer(), claims.subject());
        let select = sql!(
            Self,
            "select user.id, user.name, user.random from user join identity on identity.user = user.id
             where issuer = ? and subject = ?",
            issuer,
            subject
        );
        Ok(cx.db().one(select).await?)
    }

    /// At the first time: the account with the same address, if the provider has verified it, or a new one.
    async fn join(cx: &Cx<'_>, claims: &Claims) -> Result<Self> {
        // Committed here: the session is the user's at once, so the user must not be undone later.
        let db = cx.db().transaction().await?;
        let email = claims.verified_email();
        let name = claims.name().or(email).unwrap_or("somebody");
        let user = match db.one(sql!(Self, "select id, name, random from user where email = ?", email)).await? {
            Some(user) => user,
            None => {
                let insert =
                    sql!(Self, "insert into user (email, name) values (?, ?) returning id, name, random", email, name);
                db.one(insert).await?.or_404()?
            }
        };
        let (issuer, subject) = (claims.issuer(), claims.subject());
        let insert = sql!("insert into identity (issuer, subject, user) values (?, ?, ?)", issuer, subject, user.id);
        db.execute(insert).await?;
        db.commit().await?;
        Ok(user)
    }
}

#[derive(Service)]
#[service(GET "/sign-in/example", open = "it is how to get in")]
struct SignIn;

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(provider(cx).begin(cx, Callback).await?)
    }
}

#[derive(Service)]
#[service(GET "/sign-in/example/again", open = "it is how to get in")]
struct SignInAgain;

impl Handle for SignInAgain {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(provider(cx).max_age(User::FRESH).begin(cx, Callback).await?)
    }
}

#[derive(Service)]
#[service(GET "/sign-in/example/callback", open = "it is how to get in")]
struct Callback;

impl Handle for Callback {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let claims = provider(cx).complete(cx).await?;
        let user = match User::of(cx, &claims).await? {
            Some(user) => user,
            None => User::join(cx, &claims).await?,
        };
        claims.sign_in(cx, &user).await?;
        Ok(Response::see_other(Profile::link()))
    }
}

#[derive(Service)]
#[service(GET "/profile")]
struct Profile {
    #[guard]
    user: Signed<User>,
}

impl Handle for Profile {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("{} is {}", self.user.id, self.user.name)))
    }
}

#[derive(Service)]
#[service(GET "/key")]
struct ShowKey {
    #[guard]
    user: Fresh<User>,
}

impl Handle for ShowKey {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("the key of {}", self.user.name)))
    }
}

pub(crate) fn app() -> App {
    App::new()
        .languages([Messages::ENGLISH, Messages { language: "de", ..Messages::ENGLISH }])
        .database(migrations!("tests/sql/oidc"))
        .settings::<Login>()
        .serve(services![SignIn, SignInAgain, Callback, Profile, ShowKey])
        .require::<Signed<User>>()
}
