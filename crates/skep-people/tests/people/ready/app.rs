//! An application whose account is derived, with the ready pages.

use skep::form::Messages;
use skep::guard::Scope;
use skep::html::{Flow, Html};
use skep::link::Destination;
use skep::param::Token;
use skep::prelude::*;
use skep::sql::{Row, migrations};
use skep_people::pages::{
    AccountApp, AccountPages, ChangePasswordPage, CreateAccount, NewAccount, SignOut, SignUpAccount,
};
use skep_people::{AccessToken, Account, Allowed, Bearer, Fresh, Signed, awaiting_second_factor, rule};

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/ready"; $($input)*) } }

#[derive(Debug, Row, Account)]
#[account(table = "member", filter = "locked = 0", scope = "member_id", tokens = "token", kind = "member")]
#[account(has_second_factor = has_code, migrations = "tests/sql/ready")]
pub(crate) struct Member {
    pub(crate) id: i64,
    #[account(email)]
    pub(crate) mail: String,
    #[account(name)]
    name: String,
    password: Option<String>,
    language: String,
    random: String,
}

fn has_code(member: &Member) -> bool {
    member.mail.starts_with("two@")
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

    fn second_factor(_cx: &Cx<'_>, back: Option<&str>) -> Result {
        Ok(Response::text(format!("and the code? {back:?}")))
    }

    async fn signed_in(cx: &mut Cx<'_>, account: &Self) -> Result<()> {
        cx.flash(format!("welcome, {}", account.mail));
        Ok(())
    }
}

impl SignUpAccount for Member {
    const ASKS_NAME: bool = true;

    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
        if new.name == "root" {
            return Err(CreateAccount::name.refuse("This name is taken."));
        }
        let insert = async || {
            let insert = sql!(
                Member,
                "insert into member (mail, name, password, locked) values (?, ?, ?, ?) returning {columns of Member}",
                new.email,
                new.name,
                new.password_hash,
                i64::from(new.name == "Nobody yet")
            );
            cx.db().one(insert).await?.or_404()
        };
        let created: Self = insert().await?;
        match new.name {
            // As when the other link was opened at the same time.
            "Twice" => insert().await,
            "Broken" => Err(Error::internal("no mail server")),
            _ => Ok(created),
        }
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

#[derive(Service)]
#[service(GET "/code", open = "the first factor is proved")]
struct Code;

impl Handle for Code {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let member = awaiting_second_factor::<Member>(cx).await?.or_404()?;
        Ok(Response::text(format!("{}: {}", member.name, cx.language())))
    }
}

/// Another account is read, which is not whose request this is.
#[derive(Service)]
#[service(GET "/language-at/{id}")]
struct LanguageAt {
    id: i64,
    #[guard]
    member: Signed<Member>,
}

impl Handle for LanguageAt {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let other = Member::find(cx, &self.id.to_string()).await?.or_404()?;
        Ok(Response::text(format!("{}: {}, not {}", self.member.name, cx.language(), other.language)))
    }
}

#[derive(Service)]
#[service(GET "/api/language", guard = Bearer<Member>)]
struct Language;

impl Handle for Language {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.language()))
    }
}

#[derive(Service)]
#[service(GET "/api/names", answers = Vec<String>)]
struct Names {
    #[guard]
    member: Signed<Member>,
}

impl Answer for Names {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Vec<String>> {
        Ok(vec![self.member.name.clone()])
    }
}

#[derive(Service)]
#[service(POST "/api/names", guard = Signed<Member>)]
struct AddName {
    #[json]
    name: String,
}

impl Handle for AddName {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.name))
    }
}

#[derive(Service)]
#[service(GET "/invitations/{token}", guard = Signed<Member>)]
struct Invitation {
    token: Token,
}

impl Handle for Invitation {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.token.to_string()))
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
        .serve(services![Home, MakeToken, Me, OfHouse, Write, Code, LanguageAt, Language, Names, AddName, Invitation])
        .sign_in_pages::<Member>()
        .sign_up_pages::<Member>()
        .require::<Signed<Member>>()
}
