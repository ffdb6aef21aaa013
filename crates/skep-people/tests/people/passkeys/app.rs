//! An application whose users have passkeys. `docs/guides/people/passkeys.md` quotes this file.

use skep::form::Messages;
use skep::form::{Hidden, Text};
use skep::prelude::*;
use skep::sql::{Row, migrations};
use skep_people::passkeys::{
    Factor, Passkey, PasskeyAccount, are_possible, begin_registration, begin_second_factor, begin_sign_in,
    passkey_second_factor, passkey_sign_in, register, remove_passkey,
};
use skep_people::{Account, Fresh, SecurityEvent, SecurityLog, Signed, Stamp, sign_in};

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/passkeys"; $($input)*) } }

#[derive(Debug, Row)]
struct User {
    id: i64,
    name: String,
    random: String,
    two_factors: bool,
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

    fn has_second_factor(&self) -> bool {
        self.two_factors
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let Ok(id) = id.parse::<i64>() else { return Ok(None) };
        Ok(cx
            .db()
            .one(sql!(Self, "select id, name, random, two_factors from user where id = ? and not locked", id))
            .await?)
    }
}

impl PasskeyAccount for User {
    async fn passkeys(&self, cx: &Cx<'_>) -> Result<Vec<Passkey>> {
        let select =
            sql!(Passkey, "select id, public_key, counter, verifies_user from passkey where user = ?", self.id);
        Ok(cx.db().all(select).await?)
    }

    async fn add_passkey(&self, cx: &Cx<'_>, passkey: &Passkey, name: &str) -> Result<bool> {
        let insert = sql!(
            "insert into passkey (id, user, name, public_key, counter, verifies_user) values (?, ?, ?, ?, ?, ?)
             on conflict do nothing",
            &passkey.id,
            self.id,
            name,
            &passkey.public_key,
            passkey.counter,
            passkey.verifies_user
        );
        Ok(cx.db().execute(insert).await?.rows == 1)
    }

    async fn raise_passkey_counter(&self, cx: &Cx<'_>, id: &str, counter: u32) -> Result<bool> {
        let update = sql!(
            "update passkey set counter = ? where id = ? and user = ? and counter < ?",
            counter,
            id,
            self.id,
            counter
        );
        Ok(cx.db().execute(update).await?.rows == 1)
    }

    async fn delete_passkey(&self, cx: &Cx<'_>, id: &str) -> Result<bool> {
        let delete = sql!("delete from passkey where id = ? and user = ?", id, self.id);
        Ok(cx.db().execute(delete).await?.rows == 1)
    }
}

// ---- a user's passkeys ----

/// The options for a new passkey. The script fetches them.
#[derive(Service)]
#[service(GET "/passkeys/options")]
struct NewPasskey {
    #[guard]
    user: Fresh<User>,
}

impl Handle for NewPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_registration(cx, &*self.user, "The test", Factor::First).await
    }
}

#[derive(Service)]
#[service(POST "/passkeys")]
struct AddPasskey {
    #[guard]
    user: Fresh<User>,
    #[form]
    name: Text<1, 80>,
    #[form]
    passkey: Hidden<String>,
}

impl Handle for AddPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let passkey = register(cx, &*self.user, self.name.as_str(), &self.passkey.0).await?;
        Ok(Response::text(passkey.id))
    }
}

#[derive(Service)]
#[service(POST "/passkeys/{id}/remove")]
struct RemovePasskey {
    id: String,
    #[guard]
    user: Fresh<User>,
}

impl Handle for RemovePasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        remove_passkey(cx, &*self.user, &self.id).await?.then_some(()).or_404()?;
        Ok(Response::text("removed"))
    }
}

/// Security keys that only have a button, for [`SecondFactor`].
#[derive(Service)]
#[service(GET "/passkeys/second-options")]
struct NewSecondFactor {
    #[guard]
    user: Fresh<User>,
}

impl Handle for NewSecondFactor {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_registration(cx, &*self.user, "The test", Factor::Second).await
    }
}

// ---- signing in ----

#[derive(Service)]
#[service(GET "/sign-in", open = "it is how to get in")]
struct SignInPage;

impl Handle for SignInPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(if are_possible(cx) { "with a passkey" } else { "with a password" }))
    }
}

#[derive(Service)]
#[service(GET "/sign-in/passkey", open = "it is how to get in")]
struct SignInOptions;

impl Handle for SignInOptions {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_sign_in(cx).await
    }
}

#[derive(Service)]
#[service(POST "/sign-in/passkey", open = "it is how to get in")]
struct SignInWithPasskey {
    #[form]
    passkey: Hidden<String>,
}

impl Handle for SignInWithPasskey {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user: User = passkey_sign_in(cx, &self.passkey.0).await?;
        Ok(Response::text(format!("welcome, {}", user.name)))
    }
}

/// It stands for a password that was right.
#[derive(Service)]
#[service(POST "/sign-in/{id}", open = "it is how to get in")]
struct SignIn {
    id: String,
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = User::find(cx, &self.id).await?.or_404()?;
        sign_in(cx, &user).await?;
        Ok(Response::text("the password was right"))
    }
}

#[derive(Service)]
#[service(GET "/second-factor", open = "it is how to get in")]
struct SecondFactorOptions;

impl Handle for SecondFactorOptions {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        begin_second_factor::<User>(cx).await
    }
}

#[derive(Service)]
#[service(POST "/second-factor", open = "it is how to get in")]
struct SecondFactor {
    #[form]
    passkey: Hidden<String>,
}

impl Handle for SecondFactor {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user: User = passkey_second_factor(cx, &self.passkey.0).await?;
        Ok(Response::text(format!("welcome, {}", user.name)))
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
        Ok(Response::text(self.user.name.clone()))
    }
}

#[derive(Service)]
#[service(GET "/vault")]
struct Vault {
    #[guard]
    user: Fresh<User>,
}

impl Handle for Vault {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("the vault of {}", self.user.name)))
    }
}

async fn store(cx: &Cx<'_>, event: &SecurityEvent) -> Result<()> {
    let insert = sql!("insert into security_event (kind, account) values (?, ?)", event.kind.as_str(), &event.account);
    cx.db().execute(insert).await?;
    Ok(())
}

pub(crate) fn app() -> App {
    App::new()
        .languages([Messages::ENGLISH, Messages { language: "de", ..Messages::ENGLISH }])
        .database(migrations!("tests/sql/passkeys"))
        .state(SecurityLog::new(store))
        .serve(services![NewPasskey, NewSecondFactor, AddPasskey, RemovePasskey])
        .serve(services![
            SignInPage,
            SignInOptions,
            SignInWithPasskey,
            SignIn,
            SecondFactorOptions,
            SecondFactor,
            Profile,
            Vault
        ])
        .require::<Signed<User>>()
}
