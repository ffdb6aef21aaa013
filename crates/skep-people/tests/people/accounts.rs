//! Signing up, links in mails, two factors, remember-me and sessions: what users can do, and what attackers learn.

mod app;
mod calling;
mod ending;
mod failing;
mod guessing;
mod languages;
mod sockets;
mod staying;
mod strangers;

use std::sync::Arc;
use std::time::Duration;

use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Setup, Site};
use skep_cache::Clock;
use skep_people::Totp;

const ADA: &str = "ada@example.org";
const PASSWORD: &str = "a bee in the bonnet";

struct World {
    site: Arc<Site>,
    clock: Clock,
}

impl World {
    fn new() -> Self {
        Self::of(app::app())
    }

    fn of(app: skep::App) -> Self {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        let clock = setup.clock.clone();
        Self { site: Arc::new(app.open(setup).unwrap()), clock }
    }

    /// With an account, and a browser that is signed in.
    fn with_ada() -> (Self, Client) {
        Self::new().and_ada()
    }

    fn and_ada(self) -> (Self, Client) {
        let world = self;
        let client = world.client();
        client.post("/sign-up", &[("email", ADA)]);
        assert_eq!(client.post(&world.link(), &[("password", PASSWORD)]).text(), "welcome");
        (world, client)
    }

    fn client(&self) -> Client {
        Client::of_site(&self.site)
    }

    /// The path of the link in the last mail.
    fn link(&self) -> String {
        let mail = self.client().mails().pop().expect("there is a mail");
        let (_, path) = mail.text.split_once("http://localhost").expect("there is a link in the mail");
        path.split('#').next().unwrap().to_owned()
    }

    fn text(&self, statement: &'static str) -> String {
        self.site.db().write(|db| db.one::<String>(query(statement, ()))).unwrap().unwrap()
    }

    fn events(&self) -> String {
        self.text("select group_concat(kind, ', ') from security_event")
    }

    /// Turns the second factor on: the secret, and the recovery codes.
    fn with_second_factor(&self, client: &Client) -> (Totp, Vec<String>) {
        let uri = client.get("/second-factor").text().to_owned();
        let (_, secret) = uri.split_once("secret=").unwrap();
        let totp = Totp::parse(secret.split('&').next().unwrap()).unwrap();
        let codes = client.post("/second-factor", &[("code", &self.code(&totp))]);
        assert_eq!(codes.status(), 200, "{}", codes.text());
        let codes = codes.text().lines().map(str::to_owned).collect();
        self.clock.advance(Duration::from_secs(90));
        (totp, codes)
    }

    fn code(&self, totp: &Totp) -> String {
        totp.code_at(self.clock.now().millis() / 1000)
    }
}

fn sign_in(client: &Client, password: &str) -> TestResponse {
    client.post("/sign-in", &[("email", ADA), ("password", password)])
}

#[test]
fn an_address_is_confirmed_before_there_is_an_account() {
    let world = World::new();
    let client = world.client();
    assert_eq!(client.post("/sign-up", &[("email", ADA)]).text(), "We have sent you a mail.");
    let link = world.link();
    assert_eq!(world.text("select count(*) || '' from user"), "0");
    assert!(client.get(&link).text().contains(ADA));
    let weak = client.post(&link, &[("password", "password1234")]);
    assert!(weak.status() == 422 && weak.text().contains("guessed first"), "{}", weak.text());
    assert_eq!(client.post(&link, &[("password", PASSWORD)]).text(), "welcome");
    assert_eq!(client.get("/profile").text(), ADA);
    assert_eq!(world.client().post(&link, &[("password", "another password")]).status(), 404, "it works once");
    assert_eq!(world.events(), "link requested, address confirmed, signed in");
    assert_eq!(
        world.text("select group_concat(path, ', ') from security_event"),
        "/sign-up, /sign-up/***, /sign-up/***"
    );
}

#[test]
fn signing_up_twice_sends_another_mail_and_the_same_response() {
    let (world, client) = World::with_ada();
    assert_eq!(client.post("/sign-up", &[("email", "ADA@example.org")]).text(), "We have sent you a mail.");
    let mail = client.mails().pop().unwrap();
    assert_eq!((&*mail.subject, &*mail.to), ("You have an account", ADA));
    drop(world);
}

#[test]
fn a_magic_link_signs_in_once_and_opening_its_page_does_not() {
    let (world, _) = World::with_ada();
    let client = world.client();
    client.post("/sign-in/link", &[("email", "Ada@Example.org")]);
    assert_eq!(client.mails().pop().unwrap().to, ADA, "it goes to the address of the account");
    let link = world.link();
    for _ in 0..3 {
        assert_eq!(client.get(&link).status(), 200);
    }
    assert_eq!(client.get("/profile").status(), 401);
    assert_eq!(client.post(&link, &[]).text(), "welcome");
    assert_eq!(client.get("/profile").text(), ADA);
    assert_eq!(world.client().post(&link, &[]).status(), 403);
}

#[test]
fn a_magic_link_expires_and_ends_with_its_address() {
    let (world, ada) = World::with_ada();
    let ask = || {
        world.client().post("/sign-in/link", &[("email", ADA)]);
        world.link()
    };
    let link = ask();
    world.clock.advance(Duration::from_mins(15));
    assert_eq!(world.client().post(&link, &[]).status(), 403);
    sign_in(&ada, PASSWORD);
    let link = ask();
    ada.post("/email", &[("email", "ada@example.com")]);
    let mails = ada.mails();
    let (_, confirm) = mails[mails.len() - 2].text.split_once("http://localhost").unwrap();
    assert_eq!(mails.last().unwrap().to, ADA, "the old address hears of it");
    assert_eq!(ada.post(confirm, &[]).text(), "confirmed");
    assert_eq!(ada.get("/profile").text(), "ada@example.com");
    assert_eq!(world.client().post(&link, &[]).status(), 403);
    assert_eq!(ada.post(confirm, &[]).status(), 404);
}

#[test]
fn a_reset_ends_all_sessions_and_all_other_links() {
    let (world, ada) = World::with_ada();
    let client = world.client();
    client.post("/reset", &[("email", ADA)]);
    let first = world.link();
    client.post("/reset", &[("email", ADA)]);
    let second = world.link();
    assert_eq!((client.get(&first).status().as_u16(), client.get("/reset/nothing").status().as_u16()), (200, 404));
    assert_eq!(client.post(&second, &[("password", "password1234")]).status(), 422);
    assert!(client.post(&second, &[("password", "a new bee in it")]).text().contains("sign in"));
    assert_eq!((ada.get("/profile").status().as_u16(), client.get("/profile").status().as_u16()), (401, 401));
    for link in [&first, &second] {
        assert_eq!(client.post(link, &[("password", "yet another one")]).status(), 404);
    }
    assert_eq!(sign_in(&client, PASSWORD).status(), 422);
    assert_eq!(sign_in(&client, "a new bee in it").text(), "welcome");
}

#[test]
fn a_new_password_ends_the_other_sessions_only() {
    let (world, ada) = World::with_ada();
    let other = world.client();
    sign_in(&other, PASSWORD);
    let change = |old| ada.post("/password", &[("old", old), ("new", "a new bee in it")]);
    assert_eq!(change("wrong").status(), 422);
    assert_eq!(other.get("/profile").status(), 200);
    assert_eq!(change(PASSWORD).text(), "changed");
    assert_eq!((ada.get("/profile").status().as_u16(), other.get("/profile").status().as_u16()), (200, 401));
}

#[test]
fn mails_to_one_address_are_limited_for_all_clients() {
    let world = World::new();
    for email in ["eve@example.org", " EVE@example.org"].iter().cycle().take(5) {
        assert_eq!(world.client().post("/reset", &[("email", email)]).status(), 200);
    }
    let refused = world.client().post("/reset", &[("email", "eve@example.org")]);
    assert!(refused.status() == 429 && refused.header("retry-after").is_some());
}

#[test]
fn links_in_mails_do_not_follow_a_forged_host() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::default();
    folder.path().clone_into(&mut setup.data);
    let refused = Client::with_setup(app::app(), setup).post("/reset", &[("email", ADA)]);
    assert!(refused.status() == 500 && refused.cause().unwrap().contains("base_url"));
}

#[test]
fn a_second_factor_is_asked_for_after_password_and_link() {
    let (world, ada) = World::with_ada();
    let (totp, _) = world.with_second_factor(&ada);
    let client = world.client();
    assert_eq!(client.post("/sign-in/code", &[("code", "123456")]).status(), 401, "the first factor comes first");
    assert_eq!(sign_in(&client, PASSWORD).text(), "your code, please");
    assert_eq!((client.get("/profile").status().as_u16(), client.get("/sign-in/code").status().as_u16()), (401, 200));
    assert_eq!(client.post("/sign-in/code", &[("code", "12345a")]).status(), 422);
    assert_eq!(client.post("/sign-in/code", &[("code", &world.code(&totp))]).text(), "welcome");
    assert_eq!(client.get("/profile").text(), ADA);
    let link = world.client();
    link.post("/sign-in/link", &[("email", ADA)]);
    link.post(&world.link(), &[]);
    assert_eq!(link.get("/profile").status(), 401);
    world.clock.advance(Duration::from_mins(11));
    assert_eq!(link.post("/sign-in/code", &[("code", &world.code(&totp))]).status(), 401, "it took too long");
}

#[test]
fn who_reads_or_writes_the_database_makes_no_codes() {
    let (world, ada) = World::with_ada();
    let (totp, codes) = world.with_second_factor(&ada);
    let stored = world.text("select totp from user");
    assert!(!stored.contains(&totp.to_text()) && Totp::parse(&stored).is_none(), "{stored}");
    let copy = "insert into user (email, password, totp) select 'eve@example.org', password, totp from user returning 'copied'";
    world.text(copy);
    let try_code = |email: &str, code: &str| {
        let client = world.client();
        client.post("/sign-in", &[("email", email), ("password", PASSWORD)]);
        client.post("/sign-in/code", &[("code", code)]).status().as_u16()
    };
    assert_eq!(try_code("eve@example.org", &world.code(&totp)), 422, "it was sealed for Ada");
    assert_eq!(try_code(ADA, &world.code(&totp)), 200);
    world.text("update user set totp = case when totp like 'x%' then 'y' else 'x' end || substr(totp, 2) where email = 'ada@example.org' returning 'changed'");
    world.clock.advance(Duration::from_secs(90));
    assert_eq!(try_code(ADA, &world.code(&totp)), 422);
    assert_eq!(try_code(ADA, &codes[0]), 200, "recovery codes remain");
}

#[test]
fn a_code_is_taken_once_and_in_its_time_only() {
    let (world, ada) = World::with_ada();
    let (totp, _) = world.with_second_factor(&ada);
    let code = world.code(&totp);
    let try_code = |code: &str| {
        let client = world.client();
        sign_in(&client, PASSWORD);
        client.post("/sign-in/code", &[("code", code)]).status().as_u16()
    };
    assert_eq!(try_code(&code), 200);
    assert_eq!(try_code(&code), 422, "who looked over the shoulder is too late");
    let early = totp.code_at(world.clock.now().millis() / 1000 + 30);
    assert_eq!(try_code(&early), 200, "clocks differ by a step");
    let old = world.code(&totp);
    world.clock.advance(Duration::from_mins(2));
    assert_eq!(try_code(&old), 422);
}

#[test]
fn codes_cannot_be_guessed_for_ever() {
    let (world, ada) = World::with_ada();
    let (totp, _) = world.with_second_factor(&ada);
    let client = world.client();
    sign_in(&client, PASSWORD);
    for _ in 0..5 {
        assert_eq!(client.post("/sign-in/code", &[("code", "00000a")]).status(), 422);
    }
    assert_eq!(client.post("/sign-in/code", &[("code", &world.code(&totp))]).status(), 401);
    sign_in(&client, PASSWORD);
    assert_eq!(client.post("/sign-in/code", &[("code", &world.code(&totp))]).status(), 429);
}

#[test]
fn a_recovery_code_stands_in_once_however_it_is_typed() {
    let (world, ada) = World::with_ada();
    let (_, codes) = world.with_second_factor(&ada);
    assert!(!world.text("select group_concat(hash) from recovery_code").contains(&codes[0]));
    let try_code = |code: &str| {
        let client = world.client();
        sign_in(&client, PASSWORD);
        client.post("/sign-in/code", &[("code", code)]).status().as_u16()
    };
    assert_eq!(try_code(&codes[3].to_lowercase().replace('-', " ")), 200);
    assert_eq!(try_code(&codes[3]), 422);
    assert_eq!(try_code(&codes[4]), 200);
    assert!(world.events().contains("recovery code used"));
}
