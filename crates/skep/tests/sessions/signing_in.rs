//! What a session holds after signing in, wherever sessions are kept.

use std::sync::Arc;

use skep::cache::{Clock, Tiers};
use skep::prelude::*;
use skep::session::{CookieLife, Key, SessionStore};
use skep::test::Client;
use skep::{Setup, Site};

const CART: Key<String> = Key::new("cart").kept_at_sign_in();
const NOTE: Key<String> = Key::new("note");
const USER: Key<String> = Key::new("user");
/// As if an earlier version of the application had not declared it so.
const CART_OF_BEFORE: Key<String> = Key::new("cart");

#[derive(Service)]
#[service(GET "/")]
struct Show;

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let session = cx.session();
        let (user, cart, note) = (session.get(&USER).await?, session.get(&CART).await?, session.get(&NOTE).await?);
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        Ok(Response::text(format!("{} {} {}", text(user), text(cart), text(note))))
    }
}

#[derive(Service)]
#[service(POST "/put/{value}")]
struct Put {
    value: String,
}

impl Handle for Put {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&CART, &self.value).await?;
        cx.session().set(&NOTE, &self.value).await?;
        cx.session().set(&CART_OF_BEFORE, &self.value).await?;
        Ok(Response::text("put"))
    }
}

#[derive(Service)]
#[service(POST "/in/{user}")]
struct LogIn {
    user: String,
}

impl Handle for LogIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().begin_for(&self.user).await?;
        cx.session().set(&USER, &self.user).await?;
        Ok(Response::text("in"))
    }
}

fn each(test: impl Fn(&Arc<Site>)) {
    let folder = tempfile::tempdir().unwrap();
    let open = |change: &dyn Fn(&mut Setup)| {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        change(&mut setup);
        test(&Arc::new(App::new().name("shop", "").serve(services![Show, Put, LogIn]).open(setup).unwrap()));
    };
    open(&|_setup| ());
    open(&|setup| (setup.temporary_database, setup.data) = (false, folder.path().join("data")));
    open(&|setup| setup.session.store = SessionStore::Cookie);
    open(&|setup| {
        let file = format!("sqlite:{} table=people", folder.path().join("own.db").display());
        setup.caches = [("sessions".to_owned(), Tiers::parse(["memory:1MiB", &file]).unwrap())].into();
    });
}

#[test]
fn signing_in_keeps_what_is_ones_own_and_what_says_so() {
    // What is done first, and what ann has after signing in.
    let cases: [(&[&str], &str); 8] = [
        (&[], "ann - -"),
        (&["/put/anonymous"], "ann anonymous -"),
        (&["/in/ann", "/put/hers"], "ann hers hers"),
        (&["/put/anonymous", "/in/ann"], "ann anonymous -"),
        (&["/in/bob", "/put/his"], "ann - -"),
        (&["/put/anonymous", "/in/bob"], "ann - -"),
        (&["/in/ann", "/put/hers", "/in/bob"], "ann - -"),
        (&["/in/annabel", "/put/hers"], "ann - -"),
    ];
    each(|site| {
        for (before, after) in cases {
            let client = Client::of_site(site);
            for url in before {
                assert_eq!(client.post(url, &[]).status(), 200);
            }
            let old = client.cookie("skep-session");
            client.post("/in/ann", &[]);
            assert_eq!(client.get("/").text(), after, "{before:?}");
            assert_ne!(client.cookie("skep-session"), old);
        }
    });
}

#[test]
fn whom_somebody_takes_a_session_over_from_is_signed_out() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let site = Arc::new(App::new().serve(services![Show, Put, LogIn]).open(setup).unwrap());
    let client = Client::of_site(&site);
    client.post("/in/bob", &[]);
    let bobs = client.cookie("skep-session").unwrap();
    client.post("/in/ann", &[]);
    let other = Client::of_site(&site);
    let old = other.request(skep::Method::GET, "/").header("cookie", &format!("skep-session={bobs}"));
    assert_eq!(old.send().text(), "- - -");
}

#[test]
fn the_cookie_lasts_as_long_as_the_setting_says() {
    for store in [SessionStore::Server, SessionStore::Cookie] {
        for (cookie, max_age) in [(CookieLife::Browser, None), (CookieLife::Lasting, Some("Max-Age=7776000"))] {
            let mut setup = Setup::default();
            (setup.temporary_database, setup.session.store, setup.session.cookie) = (true, store, cookie);
            let site = Arc::new(App::new().serve(services![Show, Put, LogIn]).open(setup).unwrap());
            let client = Client::of_site(&site);
            for url in ["/put/it", "/in/ann"] {
                let answer = client.post(url, &[]);
                let sent = answer.header("set-cookie").expect("the session has a new cookie").to_owned();
                let age = sent.split("; ").find(|attribute| attribute.starts_with("Max-Age"));
                assert_eq!(age, max_age, "{store:?} {url}: {sent}");
            }
        }
    }
}
