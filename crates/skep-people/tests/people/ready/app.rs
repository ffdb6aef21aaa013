//! An application whose account is derived, with the ready pages.

use skep::form::Messages;
use skep::guard::Scope;
use skep::html::{Flow, Html};
use skep::link::Destination;
use skep::prelude::*;
use skep::sql::{Row, migrations};
use skep_people::pages::{AccountApp, AccountPages, ChangePasswordPage, NewAccount, SignOut, SignUpAccount};
use skep_people::{AccessToken, Account, Allowed, Bearer, Fresh, Signed, rule};

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/ready"; $($input)*) } }

#[derive(Debug, Row, Account)]
#[account(table = "member", filter = "locked = 0", scope = "member_id", tokens = "token", kind = "member")]
#[account(migrations = "tests/sql/ready")]
pub(crate) struct Member {
    id: i64,
    #[account(email)]
    mail: String,
    name: String,
    password: Option<String>,
    language: String,
    random: String,
}

rule! {
    /// Those of the house.
    pub(crate) House: |member: &Member| member.mail.ends_with("@house.example");
}

impl AccountPages for Member {
    async fn show(cx: &mut Cx<'_>, title: &str, content: &Html<Flow>) -> Result {
        let language = cx.language();
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang=(language) {
                head { title { (title) } }
                body {
                    @for message in cx.flashes() { p role="status" { (message) } }
                    h1 { (title) }
                    (content)
                }
            }
        }))
    }

    fn home() -> impl Destination {
        Home::link()
    }
}

impl SignUpAccount for Member {
    const ASKS_NAME: bool = true;

    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
        let insert = sql!(
            Member,
            "insert into member (mail, name, password) values (?, ?, ?) returning {columns of Member}",
            new.email,
            new.name,
            new.password_hash
        );
        cx.db().one(insert).await?.or_404()
    }
}

#[derive(Service)]
#[service(GET "/")]
struct Home {
    page: Option<u32>,
    #[guard]
    member: Signed<Member>,
}

impl Handle for Home {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! {
            p { "hello, " (self.member.name) ", page " (self.page.unwrap_or(1)) }
            form (SignOut::form(cx)) { button { "Out" } a href=(ChangePasswordPage) { "Password" } }
        };
        Member::show(cx, "Home", &content).await
    }
}

#[derive(Service)]
#[service(POST "/token")]
struct MakeToken {
    #[guard]
    member: Fresh<Member>,
}

impl Handle for MakeToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (mine, token) = (Scope::<Member>::of(&self.member), AccessToken::generate(&self.member)?);
        let insert =
            sql!("insert into token (digest, member_id, stamp) values (?, ?, ?)", &token.digest, mine, &token.stamp);
        cx.db().execute(insert).await?;
        Ok(Response::text(token.shown))
    }
}

#[derive(Service)]
#[service(GET "/api/me")]
struct Me {
    #[guard]
    member: Bearer<Member>,
}

impl Handle for Me {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.member.name.clone()))
    }
}

/// Shown again, it asks its guard again.
#[derive(Service)]
#[service(GET "/house", guard = Allowed<House>)]
struct OfHouse;

#[derive(Service)]
#[service(POST "/house", page = OfHouse, guard = Signed<Member>)]
struct Write {
    #[form]
    number: u8,
}

impl Handle for OfHouse {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Write::form(cx);
        Ok(Response::html(html! { form (form) { label { "Of the house " input (Write::number); } button { "Save" } } }))
    }
}

impl Handle for Write {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.number.to_string()))
    }
}

pub(crate) fn app() -> App {
    App::new()
        .database(migrations!("tests/sql/ready"))
        .languages([Messages::ENGLISH, Messages { language: "de", ..Messages::ENGLISH }])
        .serve(services![Home, MakeToken, Me, OfHouse, Write])
        .sign_in_pages::<Member>()
        .sign_up_pages::<Member>()
        .require::<Signed<Member>>()
}
