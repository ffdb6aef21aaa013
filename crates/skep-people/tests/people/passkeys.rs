//! Passkeys: who gets in with one, and what an attacker may try.

mod app;
mod authenticator;

use std::sync::Arc;
use std::time::Duration;

use authenticator::{Algorithm, Authenticator, BACKED_UP, PRESENT, VERIFIED, text};
use serde_json::{Value, json};
use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Method, Setup, Site};
use skep_cache::Clock;

struct World {
    site: Arc<Site>,
    clock: Clock,
}

impl World {
    fn new() -> Self {
        Self::with(|_| ())
    }

    fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        change(&mut setup);
        let clock = setup.clock.clone();
        Self { site: Arc::new(app::app().open(setup).unwrap()), clock }
    }

    fn client(&self) -> Client {
        Client::of_site(&self.site)
    }

    /// A browser of somebody who gave the password.
    fn signed_in(&self, id: i64) -> Client {
        let client = self.client();
        assert_eq!(client.post(&format!("/sign-in/{id}"), &[]).status(), 200);
        client
    }

    /// A passkey of Ada.
    fn registered(&self, mut authenticator: Authenticator) -> Authenticator {
        let added = register(&self.signed_in(1), &mut authenticator);
        assert_eq!((added.status().as_u16(), added.text()), (200, &*text(&authenticator.id)));
        authenticator
    }

    fn ada(&self) -> Authenticator {
        self.registered(Authenticator::new(Algorithm::Es256, 7))
    }

    fn execute(&self, statement: &'static str) {
        self.site.db().write(|db| db.execute(query(statement, ()))).unwrap();
    }

    fn events(&self) -> String {
        let select = query("select group_concat(kind, ', ') from security_event", ());
        self.site.db().write(|db| db.one::<String>(select)).unwrap().unwrap()
    }
}

fn options(client: &Client, path: &str) -> Value {
    let response = client.get(path);
    assert_eq!(response.status(), 200, "{}", response.text());
    serde_json::from_str(response.text()).unwrap()
}

fn add(client: &Client, response: &Value) -> TestResponse {
    client.post("/passkeys", &[("name", "My key"), ("passkey", &response.to_string())])
}

fn register(client: &Client, authenticator: &mut Authenticator) -> TestResponse {
    let options = options(client, "/passkeys/options");
    add(client, &authenticator.create(&options))
}

fn send(client: &Client, response: &Value) -> TestResponse {
    client.post("/sign-in/passkey", &[("passkey", &response.to_string())])
}

fn sign_in(client: &Client, authenticator: &mut Authenticator) -> TestResponse {
    let options = options(client, "/sign-in/passkey");
    send(client, &authenticator.get(&options))
}

#[test]
fn a_passkey_of_each_algorithm_signs_in() {
    let world = World::new();
    for (algorithm, seed) in [(Algorithm::Es256, 1), (Algorithm::EdDsa, 2), (Algorithm::Rs256, 3)] {
        let mut passkey = world.registered(Authenticator::new(algorithm, seed));
        let client = world.client();
        assert_eq!(client.get("/profile").status(), 401);
        assert_eq!(sign_in(&client, &mut passkey).text(), "welcome, Ada", "{algorithm:?}");
        assert_eq!(client.get("/profile").text(), "Ada");
    }
}

#[test]
fn browsers_are_asked_for_what_signs_in_alone() {
    let world = World::new();
    let ada = world.ada();
    let client = world.signed_in(1);
    let create = options(&client, "/passkeys/options")["create"].take();
    assert_eq!(create["rp"], json!({ "id": "localhost", "name": "The test" }));
    assert_eq!(create["user"], json!({ "id": text(b"user:1"), "name": "Ada", "displayName": "Ada" }));
    assert_eq!(create["excludeCredentials"], json!([{ "type": "public-key", "id": text(&ada.id) }]));
    assert_eq!((&create["attestation"], &create["timeout"]), (&json!("none"), &json!(300_000)));
    let selection = json!({ "residentKey": "required", "requireResidentKey": true, "userVerification": "required" });
    assert_eq!(create["authenticatorSelection"], selection);
    let get = options(&world.client(), "/sign-in/passkey")["get"].take();
    assert_eq!((&get["allowCredentials"], &get["userVerification"]), (&json!([]), &json!("required")));
    assert_eq!((&get["rpId"], get["challenge"].as_str().unwrap().len()), (&json!("localhost"), 32));
}

#[test]
fn origin_and_host_are_those_of_the_base_url() {
    let base = "https://www.example.org:8443".parse().unwrap();
    let world = World::with(|setup| setup.base_url = Some(base));
    let new = |origin: &str, rp_id: &str| {
        let mut passkey = Authenticator::new(Algorithm::Es256, 1);
        (passkey.origin, passkey.rp_id) = (origin.to_owned(), rp_id.to_owned());
        passkey
    };
    let client = world.signed_in(1);
    for (origin, rp_id) in [
        ("http://localhost", "localhost"),
        ("https://www.example.org", "www.example.org"),
        ("https://evil.example.org:8443", "www.example.org"),
        ("https://www.example.org:8443", "example.org"),
    ] {
        assert_eq!(register(&client, &mut new(origin, rp_id)).status(), 403, "{origin} {rp_id}");
    }
    let mut own = new("https://www.example.org:8443", "www.example.org");
    assert_eq!(register(&client, &mut own).status(), 200);
    assert_eq!(sign_in(&world.client(), &mut own).text(), "welcome, Ada");
}

#[test]
fn without_a_base_url_nobody_says_whose_passkeys_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(|setup| {
        setup.temporary_database = false;
        folder.path().clone_into(&mut setup.data);
    });
    let client = world.client();
    assert_eq!(client.get("/sign-in/passkey").status(), 404);
    // What no authenticator sent is the client's fault, even so.
    assert_eq!(send(&client, &json!("nonsense")).status(), 403);
}

/// Whether an application shows its forms for passkeys.
#[test]
fn passkeys_are_possible_where_browsers_have_them() {
    let shown = |base: Option<&str>, development: bool, host: &str| {
        let folder = tempfile::tempdir().unwrap();
        let world = World::with(|setup| {
            (setup.temporary_database, setup.development) = (false, development);
            folder.path().clone_into(&mut setup.data);
            setup.base_url = base.map(|base| base.parse().unwrap());
        });
        world.client().request(Method::GET, "/sign-in").header("host", host).send().text() == "with a passkey"
    };
    for base in ["https://www.example.org", "https://example.org:8443", "http://localhost:8080", "http://a.localhost"] {
        assert!(shown(Some(base), false, "127.0.0.1"), "{base}");
    }
    for base in ["http://www.example.org", "https://192.0.2.1", "http://127.0.0.1:8080", "https://[::1]:8443"] {
        assert!(!shown(Some(base), true, "localhost"), "{base}");
    }
    assert!(!shown(None, false, "localhost"), "anybody can write that");
    assert!(shown(None, true, "localhost:8080"));
    assert!(!shown(None, true, "127.0.0.1:8080"));
}

type Change = fn(&mut Authenticator);

/// What is wrong with a response; the rest of it is right.
#[test]
fn what_was_made_elsewhere_or_otherwise_is_refused() {
    let world = World::new();
    let ada = world.ada();
    let wrong: [(&str, Change); 10] = [
        ("origin", |key| key.origin = "https://evil.example".to_owned()),
        ("port", |key| key.origin = "http://localhost:81".to_owned()),
        ("rp id", |key| key.rp_id = "evil.example".to_owned()),
        ("type", |key| key.kind = Some("payment.get")),
        ("frame", |key| key.cross_origin = true),
        ("no user", |key| key.flags = VERIFIED),
        ("no verification", |key| key.flags = PRESENT),
        ("backup", |key| key.flags |= BACKED_UP),
        ("other id", |key| key.id = vec![9; 16]),
        ("no handle", |key| key.handle = None),
    ];
    for (what, change) in wrong {
        let (mut key, client) = (ada.clone(), world.client());
        change(&mut key);
        assert_eq!(sign_in(&client, &mut key).status(), 403, "{what}");
        assert_eq!(client.get("/profile").status(), 401, "{what}");
        if !["other id", "no handle"].contains(&what) {
            let mut new = Authenticator::new(Algorithm::Es256, 8);
            change(&mut new);
            assert_eq!(register(&world.signed_in(1), &mut new).status(), 403, "{what}");
        }
    }
    let mut other = Authenticator::new(Algorithm::Es256, 8);
    (other.id, other.handle) = (ada.id.clone(), ada.handle.clone());
    assert_eq!(sign_in(&world.client(), &mut other).status(), 403, "another key");
    assert_eq!(sign_in(&world.client(), &mut ada.clone()).status(), 200);
}

#[test]
fn a_challenge_is_for_one_browser_once_and_five_minutes() {
    let world = World::new();
    let mut ada = world.ada();
    let client = world.client();
    let response = ada.get(&options(&client, "/sign-in/passkey"));
    assert_eq!(send(&world.client(), &response).status(), 400, "another browser");
    let stranger = world.client();
    let stranger = stranger.request(Method::POST, "/sign-in/passkey").header("accept-language", "de");
    let told = stranger.form(&[("passkey", &response.to_string())]).send();
    assert!(told.status() == 400 && told.text().contains("in einem anderen Browser begonnen"), "{}", told.text());
    assert_eq!(send(&client, &response).status(), 200);
    assert_eq!(send(&client, &response).status(), 400, "twice");
    let response = ada.get(&options(&client, "/sign-in/passkey"));
    world.clock.advance(Duration::from_mins(5));
    assert_eq!(send(&client, &response).status(), 400, "late");
    ada.challenge = Some("A".repeat(32));
    assert_eq!(sign_in(&client, &mut ada).status(), 400, "of nobody");
    ada.challenge = None;
    let registration = options(&world.signed_in(1), "/passkeys/options");
    let signed = ada.get(&json!({ "get": registration["create"] }));
    assert_eq!(send(&client, &signed).status(), 400, "one for registering");
    // What fails uses its challenge up, too.
    let issued = options(&client, "/sign-in/passkey");
    let mut wrong = ada.clone();
    wrong.flags = PRESENT;
    assert_eq!(send(&client, &wrong.get(&issued)).status(), 403);
    assert_eq!(send(&client, &ada.get(&issued)).status(), 400);
}

#[test]
fn a_registration_is_completed_by_its_own_user() {
    let world = World::new();
    let (ada, mut passkey) = (world.signed_in(1), Authenticator::new(Algorithm::Es256, 1));
    let response = passkey.create(&options(&ada, "/passkeys/options"));
    // The same browser, in which another user has signed in meanwhile.
    ada.post("/sign-in/2", &[]);
    assert_eq!(add(&ada, &response).status(), 400);
    // What was begun has ended with the session of who began it.
    ada.post("/sign-in/1", &[]);
    assert_eq!(add(&ada, &response).status(), 400);
    let response = passkey.create(&options(&ada, "/passkeys/options"));
    assert_eq!(add(&ada, &response).status(), 200);
    assert_eq!(add(&ada, &response).status(), 400);
}

#[test]
fn a_passkey_is_registered_once_for_all_users() {
    let world = World::new();
    let passkey = world.ada();
    for id in [1, 2] {
        let again = register(&world.signed_in(id), &mut passkey.clone());
        assert_eq!(again.status(), 409, "{}", again.text());
    }
}

#[test]
fn a_passkey_opens_no_other_account() {
    let world = World::new();
    let mut passkey = world.ada();
    for handle in ["user:2", "user:3", "user:", "agent:1", "1"] {
        passkey.handle = Some(text(handle.as_bytes()));
        assert_eq!(sign_in(&world.client(), &mut passkey).status(), 403, "{handle}");
    }
    passkey.handle = Some(text(b"user:1"));
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 200);
    world.execute("update user set locked = 1");
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 403, "locked");
}

#[test]
fn a_counter_that_does_not_go_up_is_refused_and_recorded() {
    let world = World::new();
    let mut new = Authenticator::new(Algorithm::Es256, 1);
    new.counter = 5;
    let mut passkey = world.registered(new);
    let mut copy = passkey.clone();
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 200);
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 200);
    // It has counted to 7 by now, and its copy to 6.
    let client = world.client();
    let refused = sign_in(&client, &mut copy);
    assert!(refused.status() == 403 && refused.text().contains("copied"), "{}", refused.text());
    assert_eq!(client.get("/profile").status(), 401);
    copy.counter = 0;
    assert_eq!(sign_in(&client, &mut copy).status(), 403, "it no longer counts");
    let copied = "passkey may have been copied, sign-in refused";
    assert_eq!(world.events(), format!("signed in, passkey added, signed in, signed in, {copied}, {copied}"));
    assert_eq!(sign_in(&client, &mut passkey).status(), 200);
}

#[test]
fn who_signs_in_with_a_passkey_is_fresh() {
    let world = World::new();
    let mut passkey = world.ada();
    let client = world.client();
    sign_in(&client, &mut passkey);
    assert_eq!(client.get("/vault").text(), "the vault of Ada");
    world.clock.advance(Duration::from_mins(11));
    assert_eq!((client.get("/profile").status().as_u16(), client.get("/vault").status().as_u16()), (200, 401));
    assert_eq!(client.get("/passkeys/options").status(), 401, "a passkey is added by who is fresh only");
    sign_in(&client, &mut passkey);
    assert_eq!(client.get("/vault").status(), 200);
}

#[test]
fn a_security_key_is_a_second_factor_and_no_first_one() {
    let world = World::new();
    let mut key = Authenticator::new(Algorithm::Es256, 1);
    key.flags = PRESENT;
    let client = world.signed_in(1);
    assert_eq!(register(&client, &mut key).status(), 403, "a first factor verifies its user");
    let issued = options(&client, "/passkeys/second-options");
    assert_eq!(issued["create"]["authenticatorSelection"]["userVerification"], json!("discouraged"));
    assert_eq!(add(&client, &key.create(&issued)).status(), 200);
    world.execute("update user set two_factors = 1 where id = 1");

    let client = world.signed_in(1);
    assert_eq!(client.get("/profile").status(), 401, "the password alone signs nobody in");
    let known = options(&client, "/second-factor");
    assert_eq!(known["get"]["allowCredentials"], json!([{ "type": "public-key", "id": text(&key.id) }]));
    let second =
        |client: &Client, response: &Value| client.post("/second-factor", &[("passkey", &response.to_string())]);
    let mut elsewhere = key.clone();
    elsewhere.origin = "https://evil.example".to_owned();
    assert_eq!(second(&client, &elsewhere.get(&known)).status(), 403);
    // Security keys keep no handle.
    key.handle = None;
    let response = key.get(&options(&client, "/second-factor"));
    assert_eq!(second(&world.client(), &response).status(), 401, "who has given no password");
    assert_eq!(second(&client, &response).text(), "welcome, Ada");
    assert_eq!(client.get("/vault").status(), 200);
    assert_eq!(second(&client, &response).status(), 401, "once");

    // Even if it has a PIN by now.
    (key.flags, key.handle) = (PRESENT | VERIFIED, Some(text(b"user:1")));
    assert_eq!(sign_in(&world.client(), &mut key).status(), 403);
    assert!(world.events().contains("first factor passed, second factor refused, signed in"), "{}", world.events());
}

#[test]
fn a_passkey_with_a_verified_user_is_two_factors() {
    let world = World::new();
    let mut passkey = world.ada();
    world.execute("update user set two_factors = 1 where id = 1");
    let client = world.client();
    sign_in(&client, &mut passkey);
    assert_eq!(client.get("/profile").text(), "Ada");
}

#[test]
fn a_removed_passkey_opens_nothing_and_others_remove_none() {
    let world = World::new();
    let mut passkey = world.ada();
    let path = format!("/passkeys/{}/remove", text(&passkey.id));
    assert_eq!(world.signed_in(2).post(&path, &[]).status(), 404);
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 200);
    assert_eq!(world.signed_in(1).post(&path, &[]).text(), "removed");
    assert_eq!(sign_in(&world.client(), &mut passkey).status(), 403);
    assert!(world.events().contains("passkey removed"));
}

#[test]
fn what_is_no_response_is_refused() {
    let world = World::new();
    let mut ada = world.ada();
    let client = world.client();
    let right = ada.get(&options(&client, "/sign-in/passkey"));
    for wrong in ["", "{}", "null", "[]", "{\"rawId\":1}"] {
        assert_eq!(client.post("/sign-in/passkey", &[("passkey", wrong)]).status(), 403, "{wrong}");
    }
    for field in ["clientDataJSON", "authenticatorData", "signature"] {
        let mut damaged = right.clone();
        damaged["response"][field] = json!("!");
        let status = send(&client, &damaged).status().as_u16();
        assert!([400, 403].contains(&status), "{field}: {status}");
    }
}
