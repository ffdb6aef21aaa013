//! Sessions that are their cookie: what they keep, what ends them, and what they cannot do.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skep::cache::Clock;
use skep::prelude::*;
use skep::session::{Key, SessionStore};
use skep::test::{Client, TestResponse};
use skep::{Method, Secret, Setup, Site};

const NAME: Key<String> = Key::new("name");
const COUNT: Key<u32> = Key::new("count");
const COOKIE: &str = "skep-session";
const DAY: Duration = Duration::from_hours(24);
const OLD: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const NEW: &str = "0202020202020202020202020202020202020202020202020202020202020202";

#[derive(Service)]
#[service(GET "/")]
struct Show;

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (name, count) = (cx.session().get(&NAME).await?, cx.session().get(&COUNT).await?);
        Ok(Response::text(format!("{} {}", name.as_deref().unwrap_or("-"), count.unwrap_or(0))))
    }
}

#[derive(Service)]
#[service(POST "/{what}")]
struct Do {
    what: String,
    #[query]
    name: Option<String>,
}

impl Handle for Do {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (session, name) = (cx.session(), self.name.unwrap_or_default());
        match &*self.what {
            "set" => session.set(&NAME, &name).await?,
            "count" => drop(session.update(&COUNT, |count| count.unwrap_or(0) + 1).await?),
            "forget" => session.remove(&NAME).await?,
            "log-in" => {
                session.renew().await?;
                session.belongs_to(&name).await?;
                session.set(&NAME, &name).await?;
            }
            "log-out" => session.end().await?,
            "end-all" => session.end_all(&name).await?,
            "large" => {
                session.set(&COUNT, &7).await?;
                session.set(&NAME, &"x".repeat(3000)).await?;
            }
            "fail" => {
                session.set(&NAME, &name).await?;
                panic!("on purpose");
            }
            _ => return Err(Error::not_found()),
        }
        Ok(Response::text("done"))
    }
}

fn setup(keys: &str, clock: &Clock) -> Setup {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock, setup.session.store) = (true, clock.clone(), SessionStore::Cookie);
    setup.secret_keys = Some(Secret::new(keys.to_owned()));
    setup
}

fn open(setup: Setup) -> Arc<Site> {
    Arc::new(App::new().name("shop", "").serve(services![Show, Do]).open(setup).unwrap())
}

/// A request with this cookie, of a client that keeps none.
fn with(site: &Arc<Site>, method: Method, url: &str, cookie: &str) -> TestResponse {
    Client::of_site(site).request(method, url).header("cookie", &format!("{COOKIE}={cookie}")).send()
}

fn shown(site: &Arc<Site>, cookie: &str) -> String {
    with(site, Method::GET, "/", cookie).text().to_owned()
}

#[test]
fn values_are_in_the_cookie_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let lasting = || {
        let mut setup = setup(OLD, &Clock::manual());
        (setup.temporary_database, setup.data) = (false, folder.path().to_owned());
        setup
    };
    let client = Client::of_site(&open(lasting()));
    assert_eq!(client.get("/").text(), "- 0");
    assert_eq!(client.cookie(COOKIE), None, "nothing is kept before something is set");
    client.post("/set?name=Ann", &[]);
    client.post("/count", &[]);
    client.post("/count", &[]);
    assert_eq!(client.get("/").text(), "Ann 2");
    client.post("/forget", &[]);
    assert_eq!(client.get("/").text(), "- 2");
    let cookie = client.cookie(COOKIE).unwrap();
    assert_eq!(shown(&open(lasting()), &cookie), "- 2", "another process needs nothing but the keys");
    assert_eq!(files(folder.path()), Vec::<String>::new());
    assert!(!cookie.contains("count"), "it is sealed: {cookie}");
}

fn files(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_this_application_did_not_seal_is_no_session() {
    let clock = Clock::manual();
    let site = open(setup(OLD, &clock));
    let client = Client::of_site(&site);
    client.post("/set?name=Ann", &[]);
    let cookie = client.cookie(COOKIE).unwrap();
    let changed = |at: usize| {
        let mut bytes = cookie.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        String::from_utf8(bytes).unwrap()
    };
    for wrong in
        [changed(0), changed(40), changed(cookie.len() - 8), cookie[..cookie.len() - 4].to_owned(), "A".repeat(32)]
    {
        assert_eq!(shown(&site, &wrong), "- 0", "{wrong}");
    }
    let other = Arc::new(App::new().name("other", "").serve(services![Show, Do]).open(setup(OLD, &clock)).unwrap());
    assert_eq!(shown(&other, &cookie), "- 0", "another application with the same keys");
    assert_eq!(shown(&site, &cookie), "Ann 0");
}

#[test]
fn keys_are_rotated_without_signing_anybody_out() {
    let clock = Clock::manual();
    let before = Client::of_site(&open(setup(OLD, &clock)));
    before.post("/set?name=Ann", &[]);
    let old = before.cookie(COOKIE).unwrap();
    let both = open(setup(&format!("{NEW} {OLD}"), &clock));
    assert_eq!(shown(&both, &old), "Ann 0");
    clock.advance(DAY);
    let seen = with(&both, Method::GET, "/", &old);
    let new = seen.headers()["set-cookie"].to_str().unwrap();
    let new = new.strip_prefix("skep-session=").unwrap().split(';').next().unwrap();
    let after = open(setup(NEW, &clock));
    assert_eq!((shown(&after, new), shown(&after, &old)), ("Ann 0".to_owned(), "- 0".to_owned()));
}

#[test]
fn a_session_ends_when_it_is_not_used_or_too_old_whatever_the_browser_keeps() {
    let clock = Clock::manual();
    let site = open(setup(OLD, &clock));
    let ann = Client::of_site(&site);
    ann.post("/set?name=Ann", &[]);
    for day in [10, 20, 30, 40, 50, 60, 70, 80] {
        clock.advance(10 * DAY);
        assert_eq!(ann.get("/").text(), "Ann 0", "day {day}");
    }
    let cookie = ann.cookie(COOKIE).unwrap();
    clock.advance(9 * DAY);
    assert_eq!(shown(&site, &cookie), "Ann 0");
    clock.advance(DAY);
    assert_eq!(shown(&site, &cookie), "- 0", "after 90 days");
    let bob = Client::of_site(&site);
    bob.post("/set?name=Bob", &[]);
    let cookie = bob.cookie(COOKIE).unwrap();
    clock.advance(14 * DAY);
    assert_eq!(shown(&site, &cookie), "- 0", "not used for 14 days");
}

#[test]
fn a_session_that_is_too_large_is_an_error_that_says_so_and_changes_nothing() {
    let client = Client::of_site(&open(setup(OLD, &Clock::manual())));
    client.post("/set?name=Ann", &[]);
    let answer = client.post("/large", &[]);
    assert_eq!(answer.status(), 500);
    let cause = answer.cause().unwrap();
    assert!(cause.contains("browsers keep 4096") && cause.contains("session.store"), "{cause}");
    assert_eq!(client.get("/").text(), "Ann 7", "what was set before it is kept");
}

#[test]
fn of_changes_at_the_same_time_the_last_response_counts() {
    let site = open(setup(OLD, &Clock::manual()));
    let client = Client::of_site(&site);
    client.post("/set?name=Ann", &[]);
    let cookie = client.cookie(COOKIE).unwrap();
    let sealed_by = |url: &str| {
        let response = with(&site, Method::POST, url, &cookie);
        let value = response.headers()["set-cookie"].to_str().unwrap();
        value.strip_prefix("skep-session=").unwrap().split(';').next().unwrap().to_owned()
    };
    let (counted, named) = (sealed_by("/count"), sealed_by("/set?name=Bob"));
    assert_eq!((shown(&site, &counted), shown(&site, &named)), ("Ann 1".to_owned(), "Bob 0".to_owned()));
}

#[test]
fn signing_out_takes_the_cookie_and_reaches_no_copy() {
    let site = open(setup(OLD, &Clock::manual()));
    let client = Client::of_site(&site);
    client.post("/log-in?name=Ann", &[]);
    let copied = client.cookie(COOKIE).unwrap();
    client.post("/log-out", &[]);
    assert_eq!((client.cookie(COOKIE), client.get("/").text()), (None, "- 0"));
    assert_eq!(shown(&site, &copied), "Ann 0", "it lasts until it expires, as the guide says");
    let answer = client.post("/end-all?name=Ann", &[]);
    assert_eq!(answer.status(), 500);
    assert!(answer.cause().unwrap().contains("session.store"), "{:?}", answer.cause());
}

#[test]
fn the_cookie_is_sent_with_an_error_page_too() {
    let client = Client::of_site(&open(setup(OLD, &Clock::manual())));
    assert_eq!(client.post("/fail?name=Ann", &[]).status(), 500);
    assert_eq!(client.get("/").text(), "Ann 0");
}
