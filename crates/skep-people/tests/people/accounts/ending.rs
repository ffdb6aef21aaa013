//! What ends with a password, a lock and an account: everything that was begun in its name.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::stream;
use skep::prelude::*;
use skep::sse::Event;
use skep::test::TestStream;
use skep::{Body, Method};
use skep_people::{AccessToken, Account, Bearer, Fresh, Maybe, Signed, TokenAccount};
use tokio::sync::watch;

use super::app::{User, app};
use super::staying::{REMEMBER, remembered};
use super::*;

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/accounts"; $($input)*) } }

impl TokenAccount for User {
    async fn find_token(cx: &Cx<'_>, digest: &str) -> Result<Option<(String, String)>> {
        let select = sql!((i64, String), "select user, stamp from token where digest = ?", digest);
        Ok(cx.db().one(select).await?.map(|(user, stamp)| (user.to_string(), stamp)))
    }
}

#[derive(Service)]
#[service(POST "/tokens")]
pub(super) struct CreateToken {
    #[guard]
    user: Fresh<User>,
}

impl Handle for CreateToken {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let token = AccessToken::generate(&self.user)?;
        let id: i64 = self.user.id().parse()?;
        let insert = sql!("insert into token (digest, user, stamp) values (?, ?, ?)", token.digest, id, token.stamp);
        cx.db().execute(insert).await?;
        Ok(Response::text(token.shown))
    }
}

#[derive(Service)]
#[service(GET "/api/me")]
struct Me {
    #[guard]
    user: Bearer<User>,
}

impl Handle for Me {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.user.name().to_owned()))
    }
}

/// What streams send.
struct Feed(watch::Sender<u32>);

/// Each number that comes.
fn feed(cx: &Cx<'_>) -> impl futures_util::Stream<Item = u32> + Send + use<> {
    stream::unfold(cx.state::<Feed>().0.subscribe(), async |mut numbers| {
        numbers.changed().await.ok()?;
        let number = *numbers.borrow_and_update();
        Some((number, numbers))
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it is what a handler returns")]
fn events(cx: &Cx<'_>) -> Result {
    use futures_util::StreamExt;
    Ok(cx.events(feed(cx).map(|number| Ok::<_, Infallible>(Event::text(number.to_string())))).into())
}

macro_rules! streams {
    ($($name:ident $path:literal $($open:literal)? $attribute:ident $guard:ty, |$cx:ident| $body:expr;)*) => {$(
        #[derive(Service)]
        #[service(GET $path $(, open = $open)?)]
        struct $name { #[$attribute] _user: $guard }

        impl Handle for $name {
            async fn handle(self, $cx: &mut Cx<'_>) -> Result {
                $body
            }
        }
    )*};
}

streams! {
    Events "/events" guard Signed<User>, |cx| events(cx);
    OpenEvents "/open-events" "for everybody" state Maybe<User>, |cx| events(cx);
    TokenEvents "/api/events" guard Bearer<User>, |cx| events(cx);
    Download "/download" guard Signed<User>, |cx| {
        use futures_util::StreamExt;
        let body = Body::from_stream(feed(cx).map(|number| Ok::<_, Infallible>(number.to_string())));
        Ok(Response::with_content_type("text/plain", body))
    };
}

/// Longer than it takes until streams are asked for.
const SOON: Duration = Duration::from_secs(11);

impl World {
    fn streaming() -> (Self, Client) {
        let app = app().state(Feed(watch::Sender::new(0)));
        Self::of(app.serve(services![CreateToken, Me, Events, OpenEvents, TokenEvents, Download])).and_ada()
    }

    fn send(&self, number: u32) {
        self.site.state::<Feed>().0.send_replace(number);
    }

    fn execute(&self, statement: &'static str) {
        self.site.db().write(|db| db.execute(query(statement, ()))).unwrap();
    }

    fn by_token(&self, path: &str, token: &str) -> skep::test::RequestBuilder<'static> {
        let client: &'static Client = Box::leak(Box::new(self.client()));
        client.request(Method::GET, path).header("authorization", &format!("Bearer {token}"))
    }
}

/// All that somebody has who was signed in.
struct Held {
    session: Client,
    remembered: String,
    token: String,
    links: Vec<String>,
    streams: Vec<(&'static str, TestStream)>,
}

impl Held {
    fn of(world: &World) -> Self {
        let session = world.client();
        sign_in(&session, PASSWORD);
        let remembered = remembered(world).cookie(REMEMBER).unwrap();
        let token = session.post("/tokens", &[]).text().to_owned();
        assert_eq!(world.by_token("/api/me", &token).send().text(), ADA);
        world.client().post("/sign-in/link", &[("email", ADA)]);
        let mut links = vec![world.link()];
        world.client().post("/reset", &[("email", ADA)]);
        links.push(world.link());
        session.post("/email", &[("email", "ada@example.com")]);
        let mails = session.mails();
        let (_, confirm) = mails[mails.len() - 2].text.split_once("http://localhost").unwrap();
        links.push(confirm.to_owned());
        let paths = ["/events", "/open-events", "/download"];
        let mut streams: Vec<_> = paths.map(|path| (path, session.request(Method::GET, path).open())).into();
        streams.push(("/api/events", world.by_token("/api/events", &token).open()));
        let mut held = Self { session, remembered, token, links, streams };
        // What is asked for in vain goes on.
        for number in 1..4 {
            world.clock.advance(SOON);
            world.send(number);
            held.is_sent(number);
        }
        held
    }

    fn is_sent(&mut self, number: u32) {
        for (path, stream) in &mut self.streams {
            if *path == "/download" {
                assert_eq!(stream.next().unwrap(), number.to_string());
            } else {
                // A heartbeat may come first.
                let event = std::iter::from_fn(|| stream.next_event()).find(|event| event != ":").unwrap();
                assert_eq!(event, format!("data: {number}"), "{path}");
            }
        }
    }

    fn assert_over(mut self, world: &World, how: &str) {
        world.clock.advance(SOON);
        world.send(99);
        for (path, stream) in &mut self.streams {
            let is_over = match *path {
                // A part of a file is no file.
                "/download" => catch_unwind(AssertUnwindSafe(|| stream.next())).is_err(),
                _ => std::iter::from_fn(|| stream.next_event()).all(|event| event == ":"),
            };
            assert!(is_over, "{how}: {path} goes on");
        }
        let series = world.client();
        let again =
            series.request(Method::GET, "/profile").header("cookie", &format!("{REMEMBER}={}", self.remembered));
        assert_eq!(again.send().status(), 401, "{how}: remember-me");
        assert_eq!(self.session.get("/profile").status(), 401, "{how}: the session");
        assert_eq!(self.session.get("/profile").status(), 401, "{how}: the session, once more");
        assert_eq!(world.by_token("/api/me", &self.token).send().status(), 401, "{how}: the token");
        for link in &self.links {
            let opened = world.client().post(link, &[("password", "another bee in it")]);
            assert!([403, 404].contains(&opened.status().as_u16()), "{how}: {link} {}", opened.status());
        }
    }
}

const RECREATED: &str = "insert into user (id, email, password) select id, 'ada@example.org', \
    '$argon2id$v=19$m=64,t=1,p=1$YW5vdGhlciBzYWx0IG9mIGl0$aGFzaA' from (select 1 as id)";

#[test]
fn all_that_was_begun_in_the_name_of_an_account_ends_with_it() {
    type Act = fn(&World, &Client);
    let acts: [(&str, Act); 5] = [
        ("a new password", |_world, other| {
            let fields = [("old", PASSWORD), ("new", "a new bee in it")];
            assert_eq!(other.post("/password", &fields).text(), "changed");
        }),
        ("a reset", |world, other| {
            other.post("/reset", &[("email", ADA)]);
            assert_eq!(other.post(&world.link(), &[("password", "a new bee in it")]).status(), 200);
        }),
        ("a password that a program sets", |world, _other| {
            world.execute("update user set password = '$argon2id$v=19$m=64,t=1,p=1$YW5vdGhlciBzYWx0IG9mIGl0$aGFzaA'");
        }),
        ("a deletion", |world, _other| world.execute("delete from user")),
        ("another account with its id", |world, _other| {
            world.execute("delete from user");
            world.execute(RECREATED);
        }),
    ];
    for (how, act) in acts {
        let (world, other) = World::streaming();
        let held = Held::of(&world);
        sign_in(&other, PASSWORD);
        act(&world, &other);
        held.assert_over(&world, how);
    }
}

#[test]
fn who_changes_the_password_stays_signed_in() {
    let (world, ada) = World::streaming();
    assert_eq!(ada.post("/password", &[("old", PASSWORD), ("new", "a new bee in it")]).text(), "changed");
    assert_eq!(ada.get("/profile").text(), ADA);
    assert_eq!(ada.get("/delete").status(), 200, "and has just proved it");
    let mut events = ada.request(Method::GET, "/events").open();
    world.clock.advance(SOON);
    world.send(1);
    assert_eq!(std::iter::from_fn(|| events.next_event()).find(|event| event != ":").unwrap(), "data: 1");
}

#[test]
fn streams_end_with_their_session_alone() {
    type Act = fn(&Client, &Client);
    let acts: [(&str, Act); 3] = [
        ("sign out", |own, _other| assert_eq!(own.post("/sign-out", &[]).text(), "bye")),
        ("sign out everywhere", |_own, other| {
            assert_eq!(other.post("/sign-out?everywhere=true", &[]).text(), "bye");
        }),
        ("end one from the list", |_own, other| {
            let list = other.get("/sessions").text().to_owned();
            let entry = list.split("<li>").find(|entry| entry.contains("curl")).unwrap();
            let end = entry.split("action=\"").nth(1).unwrap().split('"').next().unwrap();
            assert_eq!(other.post(end, &[]).text(), "ended");
        }),
    ];
    for (how, act) in acts {
        let (world, other) = World::streaming();
        let own = world.client();
        let fields = [("email", ADA), ("password", PASSWORD)];
        own.request(Method::POST, "/sign-in").header("user-agent", "curl/8").form(&fields).send();
        let mut events = own.request(Method::GET, "/events").open();
        let mut of_other = other.request(Method::GET, "/events").open();
        act(&own, &other);
        world.clock.advance(SOON);
        world.send(1);
        assert!(std::iter::from_fn(|| events.next_event()).all(|event| event == ":"), "{how}");
        if how != "sign out everywhere" {
            assert_eq!(std::iter::from_fn(|| of_other.next_event()).find(|event| event != ":").unwrap(), "data: 1");
        }
    }
}

#[test]
fn a_second_factor_is_not_taken_for_an_account_that_has_changed() {
    for change in
        ["update user set password = '$argon2id$v=19$m=64,t=1,p=1$YW5vdGhlciBzYWx0IG9mIGl0$aGFzaA'", "delete from user"]
    {
        let (world, ada) = World::with_ada();
        let (totp, _) = world.with_second_factor(&ada);
        let half = world.client();
        assert_eq!(sign_in(&half, PASSWORD).text(), "your code, please");
        assert_eq!(half.get("/sign-in/code").status(), 200);
        world.execute(if change.starts_with("delete") { "delete from recovery_code" } else { "select 1" });
        world.execute(change);
        assert_eq!(half.get("/sign-in/code").status(), 404, "{change}");
        assert_eq!(half.post("/sign-in/code", &[("code", &world.code(&totp))]).status(), 401, "{change}");
    }
}

#[test]
fn a_token_is_made_by_a_fresh_proof_only_and_is_in_no_row() {
    let (world, ada) = World::streaming();
    let token = ada.post("/tokens", &[]).text().to_owned();
    assert_eq!(token.len(), 64);
    let stored = world.text("select digest || ' ' || stamp from token");
    assert!(!stored.contains(&token[..16]), "{stored}");
    world.clock.advance(Duration::from_mins(11));
    assert_eq!(ada.post("/tokens", &[]).status(), 401);
    for wrong in ["", &token[1..], &format!("{token}A"), &"A".repeat(64), &stored.replace(' ', "")] {
        assert_eq!(world.by_token("/api/me", wrong).send().status(), 401, "{wrong}");
    }
    let lower = world.client();
    let lower = lower.request(Method::GET, "/api/me").header("authorization", &format!("bearer  {token} "));
    assert_eq!(lower.send().text(), ADA);
    world.execute("delete from token");
    let refused = world.by_token("/api/me", &token).send();
    assert_eq!((refused.status().as_u16(), refused.header("www-authenticate")), (401, Some("Bearer")));
}

#[test]
fn another_cost_of_passwords_ends_nothing() {
    let (world, ada) = World::streaming();
    let token = ada.post("/tokens", &[]).text().to_owned();
    // Of the same password and salt, at a cost that is not asked for.
    let before = world.text("select password from user");
    world.execute("update user set password = replace(password, 'm=64', 'm=72')");
    assert_eq!(ada.get("/profile").text(), ADA);
    assert_eq!(world.by_token("/api/me", &token).send().text(), ADA);
    assert_ne!(world.text("select password from user"), before);
}

#[test]
fn who_signs_in_after_another_finds_nothing_of_theirs() {
    let (world, _) = World::with_ada();
    let shared = remembered(&world);
    let token = shared.cookie(REMEMBER).unwrap();
    let eve = world.client();
    eve.post("/sign-up", &[("email", "eve@example.org")]);
    let link = world.link();
    assert_eq!(shared.post(&link, &[("password", "an apple a day")]).text(), "welcome");
    assert_eq!(shared.get("/profile").text(), "eve@example.org");
    assert_eq!(shared.cookie(REMEMBER), None, "the browser is forgotten");
    let again = world.client();
    let again = again.request(Method::GET, "/profile").header("cookie", &format!("{REMEMBER}={token}"));
    assert_eq!(again.send().status(), 401);
}
