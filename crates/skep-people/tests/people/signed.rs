//! Accounts: signing in and out, what guards know of users, and what attackers learn.

use std::sync::Arc;
use std::time::Duration;

use skep::form::{Password, Text};
use skep::prelude::*;
use skep::sql::{Migration, Migrations, Row, migrations, query};
use skep::test::{Client, TestResponse};
use skep::{Setup, Site};
use skep_cache::Clock;
use skep_people::{
    Account, Allowed, Fresh, HashPassword, Maybe, PasswordAccount, PasswordCost, Rule, Signed, Stamp, hash_password,
    password_sign_in, sign_out, sign_out_everywhere, weakness,
};

#[derive(Debug, Row)]
struct User {
    id: i64,
    email: String,
    password: Option<String>,
    admin: bool,
}

impl Account for User {
    fn id(&self) -> String {
        self.id.to_string()
    }

    fn name(&self) -> &str {
        &self.email
    }

    fn stamp(&self) -> Stamp {
        Stamp::of(&self.password)
    }

    async fn find(cx: &Cx<'_>, id: &str) -> Result<Option<Self>> {
        let found = query("select id, email, password, admin from user where id = ? and not locked", id);
        Ok(cx.db().one(found).await?)
    }

    fn refuse_stale(&self, _cx: &Cx<'_>) -> Error {
        Error::unauthorized("Please type your password again.")
    }
}

impl PasswordAccount for User {
    async fn find_by_name(cx: &Cx<'_>, name: &str) -> Result<Option<Self>> {
        let found = query("select id, email, password, admin from user where email = ? and not locked", name);
        Ok(cx.db().one(found).await?)
    }

    fn password_hash(&self) -> Option<&str> {
        self.password.as_deref()
    }

    async fn set_password_hash(&self, cx: &Cx<'_>, hash: &str) -> Result<()> {
        cx.db().execute(query("update user set password = ? where id = ?", (hash, self.id))).await?;
        Ok(())
    }
}

struct Administrate;

impl Rule for Administrate {
    type Account = User;

    async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> {
        // An address that is retired is refused by an error.
        if user.email.starts_with("retired") { Err(Error::forbidden("retired")) } else { Ok(user.admin) }
    }
}

#[derive(Service)]
#[service(POST "/sign-up", open = "everybody may")]
struct SignUp {
    #[form]
    email: Text<3, 100>,
    #[form]
    password: Password<8, 200>,
}

impl Handle for SignUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let hash = hash_password(cx, self.password.reveal()).await?;
        let user = query("insert into user (email, password) values (?, ?)", (self.email.as_str(), hash));
        cx.db().execute(user).await?;
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(POST "/sign-in", open = "it is how to get in")]
struct SignIn {
    #[form]
    email: Text<3, 100>,
    #[form]
    password: Password<1, 5000>,
}

impl Handle for SignIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match password_sign_in::<User>(cx, self.email.as_str(), self.password.reveal()).await? {
            Some(user) => Ok(Response::text(format!("welcome, {}", user.email))),
            None => Err(SignIn::password.refuse("Name or password is wrong.")),
        }
    }
}

macro_rules! pages {
    ($($name:ident $path:literal $attribute:ident $kind:ty, |$user:ident, $cx:ident| $body:expr;)*) => {$(
        #[derive(Service)]
        #[service(GET $path)]
        struct $name { #[$attribute] user: $kind }

        impl Handle for $name {
            async fn handle(self, $cx: &mut Cx<'_>) -> Result {
                let $user = &self.user;
                Ok(Response::text($body))
            }
        }
    )*};
}

pages! {
    Profile "/profile" guard Signed<User>, |user, _cx| user.email.clone();
    Admin "/admin" guard Allowed<Administrate>, |user, _cx| format!("admin {}", user.email);
    Delete "/delete" guard Fresh<User>, |user, _cx| format!("deleted {}", user.email);
    Index "/" state Maybe<User>, |user, _cx| user.as_ref().map_or("stranger", |user| user.name()).to_owned();
    Leave "/leave" guard Signed<User>, |_user, cx| { sign_out(cx).await?; "bye" };
    LeaveAll "/leave-all" guard Signed<User>, |user, cx| { sign_out_everywhere(cx, &**user).await?; "bye, all" };
}

#[derive(Service)]
#[service(GET "/admin/events")]
struct AdminEvents {
    #[guard]
    _admin: Allowed<Administrate>,
}

/// Others are asked after the rule.
#[derive(Service)]
#[service(GET "/admin/signed-events")]
struct SignedEvents {
    #[guard]
    _admin: Allowed<Administrate>,
    #[guard]
    _user: Signed<User>,
    #[state]
    _maybe: Maybe<User>,
}

fn silence(cx: &Cx<'_>) -> Response {
    cx.events(futures_util::stream::pending::<std::result::Result<skep::sse::Event, std::convert::Infallible>>()).into()
}

impl Handle for AdminEvents {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(silence(cx))
    }
}

impl Handle for SignedEvents {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(silence(cx))
    }
}

fn app() -> App {
    let mut cheap = PasswordCost::default();
    (cheap.memory, cheap.passes) = (64, 1);
    priced(cheap)
}

fn priced(cost: PasswordCost) -> App {
    App::new().database(migrations!("tests/sql/people")).state(cost).serve(services![
        SignUp,
        SignIn,
        Profile,
        Admin,
        Delete,
        Index,
        Leave,
        LeaveAll,
        AdminEvents,
        SignedEvents,
    ])
}

fn opened(app: App) -> (Arc<Site>, Clock) {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    let site = Arc::new(app.open(setup).unwrap());
    assert_eq!(sign_up(&Client::of_site(&site)).status(), 200);
    (site, clock)
}

fn sign_up(client: &Client) -> TestResponse {
    client.post("/sign-up", &[("email", "ada@example.org"), ("password", "a bee in the bonnet")])
}

fn sign_in(client: &Client, password: &str) -> TestResponse {
    client.post("/sign-in", &[("email", "ada@example.org"), ("password", password)])
}

fn execute(site: &Site, text: &str) {
    site.db().write(|db| db.execute(query(text, ()))).unwrap();
}

fn stored_hash(site: &Site) -> String {
    site.db().write(|db| db.one::<String>(query("select password from user", ()))).unwrap().unwrap()
}

#[test]
fn a_password_signs_in_and_signing_out_ends_it() {
    let (site, _) = opened(app());
    let client = Client::of_site(&site);
    assert_eq!((client.get("/profile").status().as_u16(), client.get("/").text()), (401, "stranger"));
    assert_eq!(sign_in(&client, "a bee in the bonne").status(), 422);
    assert_eq!(client.get("/profile").status(), 401);
    assert_eq!(sign_in(&client, "a bee in the bonnet").text(), "welcome, ada@example.org");
    assert_eq!((client.get("/profile").text(), client.get("/").text()), ("ada@example.org", "ada@example.org"));
    assert_eq!(client.get("/leave").text(), "bye");
    assert_eq!(client.get("/profile").status(), 401);
}

#[test]
fn signing_in_gives_the_session_a_new_id() {
    let (site, _) = opened(app());
    let (client, thief) = (Client::of_site(&site), Client::of_site(&site));
    sign_in(&client, "a bee in the bonnet");
    let first = client.cookie("skep-session").unwrap();
    sign_in(&client, "a bee in the bonnet");
    assert_ne!(client.cookie("skep-session").unwrap(), first);
    let with =
        |id: &str| thief.request(skep::Method::GET, "/profile").header("cookie", &format!("skep-session={id}")).send();
    assert_eq!(with(&first).status(), 401);
}

#[test]
fn signing_out_everywhere_ends_other_devices() {
    let (site, _) = opened(app());
    let (phone, desk) = (Client::of_site(&site), Client::of_site(&site));
    sign_in(&phone, "a bee in the bonnet");
    sign_in(&desk, "a bee in the bonnet");
    assert_eq!(desk.get("/leave-all").text(), "bye, all");
    assert_eq!((phone.get("/profile").status().as_u16(), desk.get("/profile").status().as_u16()), (401, 401));
}

#[test]
fn a_locked_account_is_out_at_its_next_request() {
    let (site, _) = opened(app());
    let client = Client::of_site(&site);
    sign_in(&client, "a bee in the bonnet");
    execute(&site, "update user set locked = 1");
    assert_eq!(client.get("/profile").status(), 401);
    assert_eq!(sign_in(&client, "a bee in the bonnet").status(), 422);
}

#[test]
fn a_rule_decides_for_each_request() {
    let (site, _) = opened(app());
    let client = Client::of_site(&site);
    assert_eq!(client.get("/admin").status(), 401);
    sign_in(&client, "a bee in the bonnet");
    assert_eq!(client.get("/admin").status(), 403);
    execute(&site, "update user set admin = 1");
    assert_eq!(client.get("/admin").text(), "admin ada@example.org");
}

#[test]
fn what_needs_a_fresh_proof_asks_again() {
    let (site, clock) = opened(app());
    let client = Client::of_site(&site);
    sign_in(&client, "a bee in the bonnet");
    clock.advance(Duration::from_mins(10));
    assert_eq!(client.get("/delete").text(), "deleted ada@example.org");
    clock.advance(Duration::from_secs(1));
    let stale = client.get("/delete");
    assert!(stale.status() == 401 && stale.text().contains("type your password again"), "{}", stale.text());
    assert_eq!(client.get("/profile").text(), "ada@example.org");
    sign_in(&client, "a bee in the bonnet");
    assert_eq!(client.get("/delete").text(), "deleted ada@example.org");
}

#[test]
fn an_unknown_name_looks_like_a_wrong_password() {
    let (site, _) = opened(app());
    let answer = |email: &str| {
        let client = Client::of_site(&site);
        let answer = client.post("/sign-in", &[("email", email), ("password", "wrong")]);
        let headers: Vec<String> = answer.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        // The id of the request differs, and nothing else.
        let text: Vec<String> =
            answer.text().split_whitespace().filter(|word| word.len() < 20).map(str::to_owned).collect();
        (answer.status(), headers.len(), text)
    };
    execute(&site, "insert into user (email, password) values ('magic@example.org', null)");
    assert_eq!(answer("ada@example.org"), answer("bob@example.org"));
    assert_eq!(answer("ada@example.org"), answer("magic@example.org"));
}

#[test]
fn a_name_cannot_be_tried_for_ever() {
    let (site, clock) = opened(app());
    for _ in 0..10 {
        assert_eq!(sign_in(&Client::of_site(&site), "wrong").status(), 422);
    }
    let refused = sign_in(&Client::of_site(&site), "a bee in the bonnet");
    assert_eq!((refused.status().as_u16(), refused.header("retry-after")), (429, Some("300")));
    let other = Client::of_site(&site).post("/sign-in", &[("email", "bob@example.org"), ("password", "wrong")]);
    assert_eq!(other.status(), 422, "others may");
    let spelt = Client::of_site(&site).post("/sign-in", &[("email", "ADA@example.org"), ("password", "wrong")]);
    assert_eq!(spelt.status(), 429, "another spelling is no other name");
    clock.advance(Duration::from_mins(5));
    let client = Client::of_site(&site);
    assert_eq!(sign_in(&client, "a bee in the bonnet").status(), 200);
    for _ in 0..10 {
        assert_eq!(sign_in(&client, "wrong").status(), 422, "a success forgives");
    }
}

#[test]
fn another_cost_applies_at_the_next_sign_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut cost = PasswordCost::default();
    let open = |cost| {
        let mut setup = Setup::default();
        setup.data = folder.path().to_owned();
        Arc::new(priced(cost).open(setup).unwrap())
    };
    (cost.memory, cost.passes) = (64, 1);
    let site = open(cost);
    sign_up(&Client::of_site(&site));
    let cheap = stored_hash(&site);
    assert!(cheap.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{cheap}");
    sign_in(&Client::of_site(&site), "a bee in the bonnet");
    assert_eq!(stored_hash(&site), cheap, "nothing has changed");
    drop(site);
    cost.passes = 2;
    let site = open(cost);
    assert_eq!(sign_in(&Client::of_site(&site), "wrong").status(), 422);
    assert_eq!(stored_hash(&site), cheap, "a wrong password changes nothing");
    assert_eq!(sign_in(&Client::of_site(&site), "a bee in the bonnet").status(), 200);
    assert!(stored_hash(&site).starts_with("$argon2id$v=19$m=64,t=2,p=1$"));
    assert_eq!(sign_in(&Client::of_site(&site), "a bee in the bonnet").status(), 200);
}

#[test]
fn a_password_without_end_is_not_hashed() {
    let (site, _) = opened(app());
    assert_eq!(sign_in(&Client::of_site(&site), &"a".repeat(4097)).status(), 413);
}

#[test]
fn a_password_is_the_same_however_its_letters_are_sent() {
    // Set as, typed as, and whether that is the same.
    for (set, typed, is_same) in [
        ("a\u{308}pfel und birnen", "\u{e4}pfel und birnen", true),
        ("\u{e4}pfel und birnen", "a\u{308}pfel und birnen", true),
        ("two\u{a0}words and more", "two words and\u{3000}more", true),
        ("\u{1112}\u{1161}\u{11ab} \u{d55c} \u{d55c} \u{d55c}", "\u{d55c} \u{d55c} \u{d55c} \u{d55c}", true),
        ("a bee in the bonnet", "A bee in the bonnet", false),
        ("a bee in the bonnet", "a bee in the  bonnet", false),
        ("\u{ff21} bee in the bonnet", "A bee in the bonnet", false),
    ] {
        let site = opened(app()).0;
        let hash = site.hash_password(set).unwrap();
        site.db().write(|db| db.execute(query("update user set password = ?", hash))).unwrap();
        assert_eq!(sign_in(&Client::of_site(&site), typed).status() == 200, is_same, "{set:?} {typed:?}");
        assert_eq!(sign_in(&Client::of_site(&site), set).status(), 200, "{set:?}");
    }
    let (site, _) = opened(app());
    assert!(site.hash_password("").is_err());
}

/// Of `a\u{308}pfel und birnen`, as it was typed.
const BEFORE: &str = "$argon2id$v=19$m=64,t=1,p=1$YSBzYWx0IG9mIDE2IGJ5dGU$aphR/3Fpf2RQFlia0hmFqmFlD0YqASgFbn9fSf5Yz/Y";

#[test]
fn a_password_of_before_they_were_normalised_is_right_and_hashed_again() {
    let (site, _) = opened(app());
    execute(&site, &format!("update user set password = '{BEFORE}'"));
    let client = Client::of_site(&site);
    assert_eq!(sign_in(&client, "a\u{308}pfel und birnen!").status(), 422);
    assert_eq!(sign_in(&client, "a\u{308}pfel und birnen").status(), 200);
    assert_ne!(stored_hash(&site), BEFORE);
    for typed in ["\u{e4}pfel und birnen", "a\u{308}pfel und birnen"] {
        assert_eq!(sign_in(&Client::of_site(&site), typed).status(), 200, "{typed:?}");
    }
    assert_eq!(client.get("/profile").status(), 200, "it is the same password, so nothing has ended");
}

#[test]
fn a_stream_ends_when_any_of_its_guards_refuses() {
    for path in ["/admin/events", "/admin/signed-events"] {
        for (change, profile) in [
            ("update user set admin = 0", 200),
            ("update user set email = 'retired@example.org'", 200),
            ("update user set locked = 1", 401),
        ] {
            let (site, clock) = opened(app());
            execute(&site, "update user set admin = 1");
            let client = Client::of_site(&site);
            sign_in(&client, "a bee in the bonnet");
            let mut events = client.request(skep::Method::GET, path).open();
            // A heartbeat: it goes on.
            clock.advance(Duration::from_secs(16));
            assert_eq!(events.next_event().unwrap(), ":");
            execute(&site, change);
            clock.advance(Duration::from_secs(11));
            assert_eq!(events.next_event(), None, "{path} after {change}");
            assert_eq!(client.get("/profile").status(), profile, "{path} after {change}");
        }
    }
}

#[test]
fn keys_that_are_given_out_again_are_a_warning_of_the_check() {
    const OLD: Migrations = Migrations::new(&[Migration::new(
        1,
        "0001_user.sql",
        "create table user (id integer primary key, email text not null unique, password text, admin integer);",
    )]);
    let reports = |app: App| {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = Setup::default();
        setup.data = folder.path().join("data");
        app.check(&setup).unwrap()
    };
    let found = reports(App::new().database(OLD).serve(services![Profile]));
    assert!(found.len() == 1 && found[0].starts_with("warning: table user:"), "{found:?}");
    assert_eq!(reports(app()), Vec::<String>::new());
    // Without accounts nothing names its rows.
    assert_eq!(reports(App::new().database(OLD)), Vec::<String>::new());
}

#[test]
fn easily_guessed_passwords_are_named() {
    let weak = [
        "password",
        "Passw0rd!",
        "P@ssw0rd123",
        "qwertyuiop",
        "asdfghjkl1",
        "1234567890",
        "0987654321",
        "abcdefgh",
        "aaaaaaaaaa",
        "abababab",
        "letmein2026",
        "Welcome1!",
        "ILoveYou!!",
        "admin12345",
        "summer2026",
        "trustno1",
    ];
    for password in weak {
        assert!(weakness(password, &[]).is_some(), "{password}");
    }
    for password in
        ["a bee in the bonnet", "correct horse", "tr0ub4dor&3x", "Kx9#mQ2vLp", "summer at the lake", "пароль от пчёл"]
    {
        assert_eq!(weakness(password, &["ada@example.org"]), None, "{password}");
    }
    assert!(weakness("lovelace1815", &["ada.lovelace@example.org"]).is_some());
}
