//! Signing in with OpenID Connect: whom the application believes, and what an attacker may try.

mod app;
mod provider;

use std::sync::Arc;
use std::time::Duration;

use provider::{CLIENT, Fake, ISSUER, SECRET, Signing, pairs};
use serde_json::json;
use skep::settings::{RawSetting, RawValue, Source};
use skep::test::{Client, TestResponse};
use skep::{Setup, Site};
use skep_cache::Clock;

struct World {
    site: Arc<Site>,
    clock: Clock,
    provider: Fake,
}

impl World {
    fn new() -> Self {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        let settings = [("issuer", ISSUER), ("client_id", CLIENT), ("client_secret", SECRET)];
        let raw = |(name, value): (&str, &str)| RawSetting {
            name: format!("login.{name}"),
            value: RawValue::Text(value.to_owned()),
            source: Source::Fixed,
        };
        setup.settings = settings.map(raw).into();
        let (clock, provider) = (setup.clock.clone(), Fake::new(&setup.clock));
        let site = Arc::new(app::app().fetcher(provider.clone()).open(setup).unwrap());
        Self { site, clock, provider }
    }

    fn client(&self) -> Client {
        Client::of_site(&self.site)
    }

    /// The way to the provider and its consent: the path that the browser comes back to.
    fn begin(&self, client: &Client) -> String {
        self.begin_at(client, "/sign-in/example", None)
    }

    /// The same, from a link of the application that asks the provider for this `max_age`.
    fn begin_at(&self, client: &Client, link: &str, max_age: Option<&str>) -> String {
        let redirect = client.request(http::Method::GET, link).without_redirects().send();
        assert_eq!(redirect.status(), 303, "{}", redirect.text());
        let (endpoint, query) = redirect.header("location").unwrap().split_once('&').unwrap();
        assert_eq!(endpoint, "https://accounts.example.org/authorize?ui=1");
        let query = pairs(query);
        assert_eq!((&*query["response_type"], &*query["client_id"]), ("code", CLIENT));
        assert_eq!((&*query["scope"], query["nonce"].len()), ("openid email profile", 43));
        assert_eq!(query.get("max_age").map(String::as_str), max_age);
        let (callback, state) = (query["redirect_uri"].clone(), query["state"].clone());
        let path = callback.strip_prefix("http://localhost").unwrap().to_owned();
        format!("{path}?state={state}&code={}", self.provider.consent(query))
    }

    fn sign_in(&self) -> TestResponse {
        let client = self.client();
        client.get(&self.begin(&client))
    }

    /// The next tokens say that the user proved it at this time.
    fn proves_at(&self, time: impl Into<serde_json::Value>) {
        let time = time.into();
        self.provider.change(move |_, claims| {
            claims.insert("auth_time".to_owned(), time.clone());
        });
    }

    /// Many who begin at the same moment: their statuses.
    fn crowd(&self) -> Vec<u16> {
        let begin = |client: Client| client.request(http::Method::GET, "/sign-in/example").without_redirects().send();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(|| begin(self.client()).status().as_u16())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// Signs in with a token that is not to be believed; `why` is for the log alone.
    fn is_refused(&self, why: &str) {
        let client = self.client();
        let response = client.get(&self.begin(&client));
        assert_eq!(response.status(), 502, "{why}: {}", response.text());
        assert!(response.cause().is_some_and(|cause| cause.contains(why)), "{why}: {:?}", response.cause());
        assert!(response.text().contains("you are not signed in"), "{}", response.text());
        assert_eq!(client.get("/profile").status(), 401);
    }

    /// The same with changed claims.
    fn refuses_claim(&self, name: &'static str, value: impl Into<serde_json::Value>, why: &str) {
        let value = value.into();
        self.provider.change(move |_, claims| {
            claims.insert(name.to_owned(), value.clone());
        });
        self.is_refused(why);
    }

    /// Seconds since 1970.
    fn now(&self) -> u64 {
        self.clock.now().millis() / 1000
    }
}

#[test]
fn a_user_signs_in_and_is_the_same_one_the_next_time() {
    let world = World::new();
    assert_eq!(world.sign_in().text(), "1 is Ada");
    assert_eq!(world.sign_in().text(), "1 is Ada");
    let counts = ["/main/.well-known/openid-configuration", "/keys", "/token"].map(|path| world.provider.count(path));
    assert_eq!(counts, [1, 1, 2], "configuration and keys are cached");
    world.clock.advance(Duration::from_hours(2));
    assert_eq!(world.sign_in().text(), "1 is Ada");
    assert_eq!(world.provider.count("/keys"), 2);
}

#[test]
fn both_kinds_of_keys_and_both_kinds_of_client_authentication_work() {
    let world = World::new();
    world.provider.rules().configuration =
        pairs_of(&json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]}));
    world.provider.change(|header, _| {
        header.insert("alg".to_owned(), "RS256".into());
        header.insert("kid".to_owned(), "rsa".into());
    });
    assert_eq!(world.sign_in().text(), "1 is Ada");
    world.provider.change(|header, _| {
        header.insert("alg".to_owned(), "RS256".into());
        header.remove("kid");
    });
    assert_eq!(world.sign_in().text(), "1 is Ada", "a token without `kid` is of one of the keys");
}

#[test]
fn an_account_is_linked_by_an_address_that_is_verified_only() {
    let world = World::new();
    assert_eq!(world.sign_in().text(), "1 is Ada");
    for (subject, verified, profile) in
        [("eve", json!(false), "2 is Eve"), ("eva", json!(null), "3 is Eve"), ("ada-2", json!("true"), "1 is Ada")]
    {
        world.provider.change(move |_, claims| {
            claims.insert("sub".to_owned(), subject.into());
            claims.insert("name".to_owned(), "Eve".into());
            claims.insert("email_verified".to_owned(), verified.clone());
        });
        assert_eq!(world.sign_in().text(), profile);
    }
}

#[test]
fn what_the_token_lacks_userinfo_adds_if_it_is_about_the_same_user() {
    let world = World::new();
    assert_eq!(world.sign_in().text(), "1 is Ada");
    world.provider.change(|_, claims| {
        claims.retain(|name, _| !matches!(&**name, "email" | "name"));
        claims.insert("sub".to_owned(), "ada-2".into());
    });
    world.provider.rules().user_info =
        json!({"sub": "ada-2", "iss": "https://evil.example", "name": "Ada L.", "email": "ada@example.org"});
    assert_eq!(world.sign_in().text(), "2 is Ada L.", "that an address is verified is said where the address is");
    world.provider.rules().user_info = json!({"sub": "eve", "email": "eve@example.org", "email_verified": true});
    world.is_refused("the userinfo endpoint speaks of another user");
}

#[test]
fn a_token_for_others_or_of_another_time_is_refused() {
    let world = World::new();
    let now = world.now();
    world.refuses_claim("iss", "https://accounts.example.org", "`iss` of the ID token");
    world.refuses_claim("aud", "another client", "`aud` of the ID token");
    world.refuses_claim("aud", json!([CLIENT, "another client"]), "`azp` of the ID token");
    world.refuses_claim("aud", json!({"our client": 1}), "`aud` of the ID token");
    world.refuses_claim("azp", "another client", "`azp` of the ID token");
    world.refuses_claim("nonce", "that of another", "`nonce` of the ID token");
    world.refuses_claim("nonce", json!(null), "`nonce` of the ID token");
    world.refuses_claim("exp", now - 60, "has expired");
    world.refuses_claim("exp", json!(null), "lacks a claim");
    world.refuses_claim("iat", now + 61, "`iat` of the ID token is in the future");
    world.refuses_claim("nbf", now + 61, "`nbf` of the ID token is in the future");
    world.refuses_claim("auth_time", now + 61, "`auth_time` of the ID token is in the future");
    world.refuses_claim("auth_time", "today", "another type");
    world.refuses_claim("sub", "", "`sub` of the ID token");
    world.provider.change(move |_, claims| {
        claims.insert("exp".to_owned(), (now - 59).into());
        claims.insert("iat".to_owned(), (now + 60).into());
        claims.insert("aud".to_owned(), json!([CLIENT, "another client"]));
        claims.insert("azp".to_owned(), CLIENT.into());
    });
    assert_eq!(world.sign_in().text(), "1 is Ada", "clocks may be a minute apart");
}

#[test]
fn a_token_that_no_key_of_the_provider_signed_is_refused() {
    let world = World::new();
    let header = |name: &'static str, value: serde_json::Value| {
        world.provider.change(move |header, _| {
            header.insert(name.to_owned(), value.clone());
        });
    };
    for algorithm in ["none", "HS256"] {
        header("alg", algorithm.into());
        world.is_refused("another algorithm than RS256 and ES256");
    }
    header("crit", json!(["b64"]));
    world.is_refused("extension that must be understood");
    header("is changed", true.into());
    world.is_refused("no key of the provider");
    header("signed by", 9.into());
    world.is_refused("no key of the provider");
    header("kid", "rsa".into());
    world.is_refused("no key of the provider");
}

#[test]
fn new_keys_are_fetched_once_a_minute_at_most() {
    let world = World::new();
    assert_eq!(world.sign_in().text(), "1 is Ada");
    world.clock.advance(Duration::from_mins(1));
    world.provider.rules().published = vec![("second", Signing::P256(2))];
    world.provider.change(|header, _| {
        header.insert("kid".to_owned(), "second".into());
        header.insert("signed by".to_owned(), 2.into());
    });
    assert_eq!(world.sign_in().text(), "1 is Ada", "the keys were rotated");
    assert_eq!(world.provider.count("/keys"), 2);
    world.provider.change(|_, _| ());
    world.is_refused("no key of the provider");
    world.is_refused("no key of the provider");
    assert_eq!(world.provider.count("/keys"), 2, "the old key is unknown, and nothing is asked again");
    world.clock.advance(Duration::from_mins(1));
    world.is_refused("no key of the provider");
    assert_eq!(world.provider.count("/keys"), 3);
}

#[test]
fn a_sign_in_is_as_fresh_as_the_provider_proves() {
    let world = World::new();
    let (client, now) = (world.client(), world.now());
    let key = || client.request(http::Method::GET, "/key").without_redirects().send();
    let is_stale = || key().header("location") == Some("/sign-in/example/again");
    assert_eq!(client.get(&world.begin(&client)).text(), "1 is Ada");
    assert!(is_stale(), "the provider does not say when it asked");
    let again = || client.get(&world.begin_at(&client, "/sign-in/example/again", Some("600")));
    assert_eq!(again().text(), "1 is Ada");
    assert!(is_stale(), "nor when it was asked to");
    for time in [0, now - 601, now - 3600] {
        world.proves_at(time);
        assert_eq!(again().text(), "1 is Ada");
        assert!(is_stale(), "the provider did not ask again: {time}");
    }
    world.proves_at(now - 540);
    assert_eq!(again().text(), "1 is Ada");
    assert_eq!(key().text(), "the key of Ada");
    world.clock.advance(Duration::from_secs(61));
    assert!(is_stale(), "ten minutes after the proof, whenever the application heard of it");
    world.proves_at(world.now() + 60);
    assert_eq!(client.get(&world.begin(&client)).text(), "1 is Ada");
    world.clock.advance(Duration::from_mins(10));
    assert_eq!(key().text(), "the key of Ada", "clocks may be a minute apart");
    world.clock.advance(Duration::from_secs(1));
    assert!(is_stale(), "but nothing is fresh for longer than ten minutes from now");
}

#[test]
fn many_who_begin_at_once_make_one_request() {
    let world = World::new();
    world.provider.rules().is_slow = true;
    assert_eq!(world.crowd(), [303; 20]);
    assert_eq!(world.provider.count("/main/.well-known/openid-configuration"), 1);
}

#[test]
fn many_who_wait_for_a_provider_that_fails_learn_why_and_the_next_one_asks_again() {
    let world = World::new();
    world.provider.rules().is_slow = true;
    world.provider.rules().is_down = true;
    assert_eq!(world.crowd(), [503; 20]);
    let asked = world.provider.count("/main/.well-known/openid-configuration");
    assert!(asked < 20, "only who comes later than half a second after the first one asks again: {asked}");
    world.provider.rules().is_down = false;
    assert_eq!(world.crowd(), [303; 20]);
    assert_eq!(world.provider.count("/main/.well-known/openid-configuration"), asked + 1);
}

#[test]
fn a_sign_in_completes_once_in_its_browser_and_in_its_time() {
    let world = World::new();
    let (ada, eve) = (world.client(), world.client());
    let expired = |response: &TestResponse| response.status() == 400 && response.text().contains("begin again");
    let callback = world.begin(&ada);
    world.begin(&eve);
    assert!(expired(&eve.get(&callback)) && expired(&world.client().get(&callback)), "another browser");
    assert_eq!(ada.get(&callback).text(), "1 is Ada", "which does not use it up");
    assert!(expired(&ada.get(&callback)), "used");
    assert!(expired(&ada.get("/sign-in/example/callback?code=code-1")), "no state");
    let late = world.begin(&eve);
    world.clock.advance(Duration::from_mins(10));
    assert!(expired(&eve.get(&late)), "too late");
    assert_eq!(world.provider.count("/token"), 1, "no code but the one was redeemed");
}

#[test]
fn several_tabs_of_one_browser_do_not_disturb_each_other() {
    let world = World::new();
    let client = world.client();
    let (first, second) = (world.begin(&client), world.begin(&client));
    assert_eq!(client.get(&second).text(), "1 is Ada");
    assert_eq!(client.get(&first).text(), "1 is Ada");
}

#[test]
fn what_the_provider_says_instead_of_a_code_is_a_clear_page() {
    let world = World::new();
    let client = world.client();
    let answer = |query: &str| {
        let callback = world.begin(&client);
        client.get(&format!("{}&{query}", callback.split_once("&code").unwrap().0))
    };
    let denied = answer("error=access_denied&error_description=no");
    assert!(denied.status() == 403 && denied.text().contains("Example was not allowed to sign you in"));
    let failed = answer("error=server_error");
    assert!(failed.status() == 502 && failed.cause().unwrap().contains("server_error"));
    assert_eq!(answer("code=code-9").status(), 502, "a code that the provider did not give");
    assert_eq!(answer("nothing=1").status(), 502);
    let other = answer("code=code-0&iss=https%3A%2F%2Fevil.example");
    assert!(other.status() == 502 && other.cause().unwrap().contains("another issuer"));
}

#[test]
fn a_provider_that_fails_is_a_503_or_a_502_that_says_so() {
    let world = World::new();
    let client = world.client();
    world.provider.rules().is_down = true;
    let down = client.get("/sign-in/example");
    assert!(down.status() == 503 && down.text().contains("Example does not respond"), "{}", down.text());
    let down = client.request(skep::Method::GET, "/sign-in/example").header("accept-language", "de").send();
    assert!(down.status() == 503 && down.text().contains("Example antwortet nicht."), "{}", down.text());
    world.provider.rules().is_down = false;
    let callback = world.begin(&client);
    world.provider.rules().is_down = true;
    assert_eq!(client.get(&callback).status(), 503);
    world.provider.rules().is_down = false;
    world.provider.rules().refuses = Some("invalid_grant");
    world.is_refused("the token endpoint responded invalid_grant");
}

#[test]
fn a_configuration_of_another_issuer_or_without_tls_is_refused() {
    for (name, value) in [
        ("issuer", "https://accounts.example.org"),
        ("token_endpoint", "http://accounts.example.org/token"),
        ("jwks_uri", "/keys"),
    ] {
        let world = World::new();
        world.provider.rules().configuration = pairs_of(&json!({name: value}));
        let response = world.client().get("/sign-in/example");
        assert_eq!(response.status(), 502, "{name}: {}", response.text());
    }
}

fn pairs_of(value: &serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    value.as_object().unwrap().clone()
}
