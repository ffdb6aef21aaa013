//! Sessions: whose they are, what ends them, and what no other request can do to them.

use std::fs;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rusqlite::Connection;
use skep::cache::{Clock, Tiers};
use skep::header::SET_COOKIE;
use skep::prelude::*;
use skep::session::Key;
use skep::test::{Client, TestResponse};
use skep::{LocalSite, Method, Peer, Setup, Site};

const NAME: Key<String> = Key::new("name");
const COUNT: Key<u32> = Key::new("count");
const OTHER: Key<u32> = Key::new("other");
/// As if a later version of the application kept something else under this name.
const NAME_OF_LATER: Key<Vec<u32>> = Key::new("name");

const COOKIE: &str = "skep-session";
const DAY: Duration = Duration::from_hours(24);

/// Lets go of those who wait.
#[derive(Default)]
struct Gate(AtomicBool);

/// Waits once, so that other requests come between.
async fn pause() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[derive(Service)]
#[service(GET "/")]
struct Show;

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let session = cx.session();
        let (name, count) = (session.get(&NAME).await?, session.get(&COUNT).await?);
        pause().await;
        Ok(Response::text(format!("{} {}", name.as_deref().unwrap_or("-"), count.unwrap_or(0))))
    }
}

#[derive(Service)]
#[service(GET "/no-session")]
struct Without;

impl Handle for Without {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("the same for everybody"))
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
        let session = cx.session();
        match &*self.what {
            "set" => session.set(&NAME, &self.name.unwrap_or_default()).await?,
            "set-late" => {
                let _before = session.get(&NAME).await?;
                std::future::poll_fn(
                    |_| if cx.state::<Gate>().0.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending },
                )
                .await;
                session.set(&NAME, &self.name.unwrap_or_default()).await?;
            }
            "count" => drop(session.update(&COUNT, |count| count.unwrap_or(0) + 1).await?),
            "count-other" => drop(session.update(&OTHER, |count| count.unwrap_or(0) + 1).await?),
            "other" => return Ok(Response::text(session.get(&OTHER).await?.unwrap_or(0).to_string())),
            "forget" => session.remove(&NAME).await?,
            "log-in" => {
                session.renew().await?;
                session.set(&NAME, &self.name.unwrap_or_default()).await?;
            }
            "log-in-as" => {
                session.renew().await?;
                let name = self.name.unwrap_or_default();
                session.belongs_to(&name).await?;
                session.set(&NAME, &name).await?;
            }
            "renew" => session.renew().await?,
            "end-all" => session.end_all(&self.name.unwrap_or_default()).await?,
            "log-out" => session.end().await?,
            "log-out-and-set" => {
                session.end().await?;
                session.set(&COUNT, &7).await?;
            }
            "renew-and-fail" => {
                session.renew().await?;
                return Err(Error::bad_request("on purpose"));
            }
            "later" => {
                assert_eq!(session.get(&NAME_OF_LATER).await?, None);
                session.update(&NAME_OF_LATER, |old| [old.unwrap_or_default(), vec![1]].concat()).await?;
            }
            "large" => session.set(&NAME, &"x".repeat(70_000)).await?,
            "exists" => return Ok(Response::text(session.exists().await?.to_string())),
            _ => return Err(Error::not_found()),
        }
        Ok(Response::empty(StatusCode::NO_CONTENT))
    }
}

fn app() -> App {
    App::new().serve(services![Show, Without, Do]).state(Gate::default())
}

fn open(setup: Setup) -> Arc<Site> {
    Arc::new(app().open(setup).unwrap())
}

/// In memory.
fn passing(clock: &Clock) -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.clock = clock.clone();
    setup
}

/// In this folder.
fn lasting(data: &Path, clock: &Clock) -> Setup {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    setup.clock = clock.clone();
    setup
}

/// Both, and one that is configured.
fn each(test: impl Fn(&Arc<Site>, &Clock)) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual());
    test(&open(passing(&clock)), &clock);
    test(&open(lasting(&folder.path().join("data"), &clock)), &clock);
    let mut configured = passing(&clock);
    let tier = format!("sqlite:{} table=people", folder.path().join("own.db").display());
    configured.caches = [("sessions".to_owned(), Tiers::parse(["memory:1MiB", &tier]).unwrap())].into();
    test(&open(configured), &clock);
}

/// A request with this cookie, of a client that keeps none.
fn with(site: &Arc<Site>, method: Method, url: &str, id: &str) -> TestResponse {
    Client::of_site(site).request(method, url).header("cookie", &format!("{COOKIE}={id}")).send()
}

fn shown(site: &Arc<Site>, id: &str) -> String {
    with(site, Method::GET, "/", id).text().to_owned()
}

fn id(client: &Client) -> String {
    client.cookie(COOKIE).expect("there is a session")
}

#[test]
fn what_is_set_is_there_until_it_is_removed() {
    each(|site, _| {
        let ann = Client::of_site(site);
        ann.post("/set?name=Ann", &[]);
        ann.post("/count", &[]);
        ann.post("/count", &[]);
        assert_eq!(ann.get("/").text(), "Ann 2");
        ann.post("/forget", &[]);
        assert_eq!(ann.get("/").text(), "- 2");
        assert_eq!(Client::of_site(site).get("/").text(), "- 0");
    });
}

#[test]
fn nothing_is_stored_and_no_cookie_sent_before_something_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::of_site(&open(lasting(folder.path(), &Clock::manual())));
    for url in ["/forget", "/log-out", "/exists"] {
        assert!(!client.post(url, &[]).headers().contains_key(SET_COOKIE), "{url}");
    }
    let shown = client.get("/");
    assert_eq!((shown.text(), shown.headers().get(SET_COOKIE)), ("- 0", None));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    client.post("/set?name=Ann", &[]);
    assert!(folder.path().join("sessions.sqlite").exists());
    let again = client.post("/count", &[]);
    assert!(!again.headers().contains_key(SET_COOKIE), "the browser knows its id");
}

#[test]
fn the_cookie_is_for_this_browser_and_this_host_only() {
    let site = open(passing(&Clock::manual()));
    let client = Client::of_site(&site);
    let cookie = client.post("/set?name=Ann", &[]).headers()[SET_COOKIE].to_str().unwrap().to_owned();
    let attributes = "; Path=/; SameSite=Lax; HttpOnly";
    assert_eq!(cookie, format!("{COOKIE}={}{attributes}", id(&client)));
    let (parts, ()) = http::Request::post("/set?name=Ann").body(()).unwrap().into_parts();
    let request = skep::Request::new(parts, skep::Body::empty()).with_peer(Peer::new(None, true));
    let response = skep_cache::driver::block_on(site.local().answer(request));
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap();
    assert!(
        cookie.starts_with("__Host-skep-session=") && cookie.ends_with(&format!("{attributes}; Secure")),
        "{cookie}"
    );
}

#[test]
fn who_touched_the_session_answers_one_user() {
    let client = Client::of_site(&open(passing(&Clock::manual())));
    assert_eq!(client.get("/").headers()["cache-control"], "private, no-cache");
    assert!(!client.get("/no-session").headers().contains_key("cache-control"));
}

#[test]
fn an_id_that_was_not_given_out_is_none() {
    each(|site, _| {
        let planted = "A".repeat(32);
        for wrong in [&*planted, "", "x", "\"\"", "A=B", &"A".repeat(4000), "%00", "A;B", "../../etc/passwd"] {
            let read = with(site, Method::GET, "/", wrong);
            assert_eq!((read.text(), read.headers().get(SET_COOKIE)), ("- 0", None), "{wrong}");
            let set = with(site, Method::POST, "/set?name=Ann", wrong);
            let cookie = set.headers()[SET_COOKIE].to_str().unwrap();
            assert!(!cookie.starts_with(&format!("{COOKIE}={wrong};")), "{cookie}");
            assert_eq!(shown(site, wrong), "- 0", "{wrong}");
        }
    });
}

#[test]
fn who_knew_the_id_before_the_log_in_knows_nothing_after_it() {
    each(|site, _| {
        let ann = Client::of_site(site);
        ann.post("/count", &[]);
        let before = id(&ann);
        ann.post("/log-in?name=Ann", &[]);
        assert_ne!(id(&ann), before);
        assert_eq!(ann.get("/").text(), "Ann 1", "what was there is there");
        assert_eq!(shown(site, &before), "- 0");
        // Without a session before, too.
        let bob = Client::of_site(site);
        bob.post("/log-in?name=Bob", &[]);
        assert_eq!(bob.get("/").text(), "Bob 0");
    });
}

#[test]
fn a_session_ends_wherever_its_id_is_known_and_no_other_does() {
    each(|site, _| {
        let (phone, laptop) = (Client::of_site(site), Client::of_site(site));
        phone.post("/log-in?name=Ann", &[]);
        laptop.post("/log-in?name=Ann", &[]);
        let copied = id(&phone);
        assert_eq!(shown(site, &copied), "Ann 0");
        phone.post("/log-out", &[]);
        assert_eq!(phone.cookie(COOKIE), None);
        assert_eq!(shown(site, &copied), "- 0");
        assert_eq!((phone.get("/").text(), laptop.get("/").text()), ("- 0", "Ann 0"));
        laptop.post("/log-out-and-set", &[]);
        assert_eq!(laptop.get("/").text(), "- 7");
    });
}

#[test]
fn the_browser_hears_of_a_new_id_even_if_the_request_failed() {
    let client = Client::of_site(&open(passing(&Clock::manual())));
    client.post("/count", &[]);
    let before = id(&client);
    let failed = client.post("/renew-and-fail", &[]);
    assert_eq!((failed.status().as_u16(), &failed.headers()["cache-control"]), (400, &"no-store".parse().unwrap()));
    assert_ne!(id(&client), before);
    assert_eq!(client.get("/").text(), "- 1");
}

#[test]
fn a_session_that_nobody_uses_ends() {
    each(|site, clock| {
        let (ann, nobody) = (Client::of_site(site), Client::of_site(site));
        ann.post("/log-in-as?name=Ann", &[]);
        nobody.post("/set?name=Nobody", &[]);
        for _ in 0..4 {
            clock.advance(10 * DAY);
            assert_eq!((ann.get("/").text(), nobody.get("/").text()), ("Ann 0", "Nobody 0"));
        }
        clock.advance(13 * DAY);
        assert_eq!((ann.get("/").text(), nobody.get("/").text()), ("Ann 0", "- 0"), "three quarters of the time");
        clock.advance(14 * DAY + Duration::from_secs(1));
        assert_eq!(ann.get("/").text(), "- 0");
    });
}

#[test]
fn a_session_ends_however_much_it_is_used_unless_it_is_renewed() {
    each(|site, clock| {
        let (ann, bob) = (Client::of_site(site), Client::of_site(site));
        for client in [&ann, &bob] {
            client.post("/set?name=Somebody", &[]);
        }
        for day in 0..100 {
            let expected = if day < 90 { format!("Somebody {day}") } else { format!("- {}", day - 90) };
            assert_eq!(ann.get("/").text(), expected, "day {day}");
            ann.post("/count", &[]);
            if day == 50 {
                bob.post("/log-in?name=Bob", &[]);
            }
            assert_eq!(bob.get("/").text(), if day < 50 { "Somebody 0" } else { "Bob 0" });
            clock.advance(DAY);
        }
    });
}

#[test]
fn that_a_session_is_used_is_written_down_now_and_then_only() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual());
    let ann = Client::of_site(&open(lasting(folder.path(), &clock)));
    ann.post("/set?name=Ann", &[]);
    let file = Connection::open(folder.path().join("sessions.sqlite")).unwrap();
    let version = || file.query_row("pragma data_version", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = version();
    clock.advance(Duration::from_secs(599));
    assert_eq!((ann.get("/").text(), version()), ("Ann 0", before));
    clock.advance(Duration::from_secs(1));
    assert_eq!(ann.get("/").text(), "Ann 0");
    let after = version();
    assert_ne!(after, before);
    assert_eq!((ann.get("/").text(), version()), ("Ann 0", after));
}

#[test]
fn a_session_survives_the_process_and_its_file_gives_no_id_away() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual());
    let ann = Client::of_site(&open(lasting(folder.path(), &clock)));
    ann.post("/log-in?name=Ann", &[]);
    let id = id(&ann);
    drop(ann);
    assert_eq!(shown(&open(lasting(folder.path(), &clock)), &id), "Ann 0");
    // Another application on the same store: browsers send a cookie to all ports of a host.
    let other = Arc::new(app().name("other", "1").open(lasting(folder.path(), &clock)).unwrap());
    assert_eq!(shown(&other, &id), "- 0");
    let raw = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, &id).unwrap();
    let mut files = 0;
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for secret in [id.as_bytes(), &raw] {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{}", path.display());
        }
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
        files += 1;
    }
    assert!(files > 0);
}

#[test]
fn two_tabs_lose_nothing_of_each_other() {
    each(|site, _| {
        let ann = Client::of_site(site);
        ann.post("/set?name=Ann", &[]);
        let id = id(&ann);
        std::thread::scope(|threads| {
            for tab in 0..4 {
                let (site, id) = (site, &id);
                threads.spawn(move || {
                    for _ in 0..25 {
                        let url = if tab % 2 == 0 { "/count" } else { "/count-other" };
                        assert_eq!(with(site, Method::POST, url, id).status(), 204);
                    }
                });
            }
        });
        assert_eq!((shown(site, &id), with(site, Method::POST, "/other", &id).text()), ("Ann 50".into(), "50"));
    });
}

type Waiting = Pin<Box<dyn Future<Output = Response>>>;

fn begin(local: &LocalSite, method: Method, url: &str, id: &str) -> Waiting {
    let request =
        http::Request::builder().method(method).uri(url).header("host", "x").header("sec-fetch-site", "same-origin");
    let (parts, ()) = request.header("cookie", format!("{COOKIE}={id}")).body(()).unwrap().into_parts();
    Box::pin(local.answer(skep::Request::new(parts, skep::Body::empty())))
}

#[test]
fn users_are_not_mixed_up_however_their_requests_interleave() {
    each(|site, _| {
        let local = site.local();
        let users: Vec<(String, String)> = (0..10)
            .map(|user| {
                let client = Client::of_site(site);
                client.post(&format!("/log-in?name=user{user}"), &[]);
                (id(&client), format!("user{user} 0"))
            })
            .collect();
        let mut waiting: Vec<(usize, Waiting)> =
            (0..1000).map(|at| (at * 7 % 10, begin(&local, Method::GET, "/", &users[at * 7 % 10].0))).collect();
        let mut context = Context::from_waker(Waker::noop());
        let (mut rounds, mut done) = (0, 0);
        while !waiting.is_empty() {
            rounds += 1;
            waiting.retain_mut(|(user, answer)| match answer.as_mut().poll(&mut context) {
                Poll::Ready(response) => {
                    assert_eq!(response.body().as_whole().unwrap(), users[*user].1.as_bytes());
                    done += 1;
                    false
                }
                Poll::Pending => true,
            });
        }
        assert!(rounds > 1 && done == 1000, "{rounds} rounds, {done} answers");
    });
}

#[test]
fn who_comes_late_revives_no_session_and_takes_nobodys_place() {
    each(|site, clock| {
        site.state::<Gate>().0.store(false, Relaxed);
        let ann = Client::of_site(site);
        ann.post("/log-in?name=Ann", &[]);
        let (before, local) = (id(&ann), site.local());
        let mut context = Context::from_waker(Waker::noop());
        let mut late = begin(&local, Method::POST, "/set-late?name=Late", &before);
        assert!(late.as_mut().poll(&mut context).is_pending());
        ann.post("/log-in?name=Anna", &[]);
        // It had not begun to read the session.
        let later = with(site, Method::POST, "/set?name=Later", &before);
        assert_eq!((later.status().as_u16(), later.headers().get(SET_COOKIE)), (409, None));
        site.state::<Gate>().0.store(true, Relaxed);
        let Poll::Ready(response) = late.as_mut().poll(&mut context) else { panic!("nothing is to be waited for") };
        assert_eq!((response.status().as_u16(), response.headers().get(SET_COOKIE)), (409, None));
        assert_eq!((ann.get("/").text(), shown(site, &before)), ("Anna 0", "- 0".into()));
        // Who logs in again gets a new session at once; else the old cookie is like any unknown one after a minute.
        assert_eq!(with(site, Method::POST, "/log-in?name=Ann", &before).status(), 204);
        clock.advance(Duration::from_secs(61));
        assert_eq!(with(site, Method::POST, "/set?name=Ann", &before).status(), 204);
        assert_eq!(shown(site, &before), "- 0");
    });
}

#[test]
fn a_store_that_fails_is_said_and_logs_nobody_out() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual());
    let site = open(lasting(folder.path(), &clock));
    let ann = Client::of_site(&site);
    ann.post("/set?name=Ann", &[]);
    let file = Connection::open(folder.path().join("sessions.sqlite")).unwrap();
    file.execute_batch("alter table skep_cache rename to gone").unwrap();
    for failed in [ann.get("/"), ann.post("/log-in?name=Ann", &[]), Client::of_site(&site).post("/count", &[])] {
        assert_eq!((failed.status().as_u16(), &failed.headers()["retry-after"]), (503, &"5".parse().unwrap()));
        assert!(
            !failed.headers().contains_key(SET_COOKIE) && !failed.text().contains("skep_cache"),
            "{}",
            failed.text()
        );
    }
    assert_eq!(ann.get("/no-session").status(), 200);
    file.execute_batch("alter table gone rename to skep_cache").unwrap();
    assert_eq!(ann.get("/").text(), "Ann 0");
}

#[test]
fn a_file_that_cannot_be_opened_is_a_503_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let (client, file) =
        (Client::of_site(&open(lasting(folder.path(), &Clock::manual()))), folder.path().join("sessions.sqlite"));
    fs::create_dir(&file).unwrap();
    assert_eq!(client.post("/set?name=Ann", &[]).status(), 503);
    fs::remove_dir(&file).unwrap();
    client.post("/set?name=Ann", &[]);
    assert_eq!(client.get("/").text(), "Ann 0");
}

#[test]
fn a_value_of_another_type_is_none_and_can_be_set_again() {
    let client = Client::of_site(&open(passing(&Clock::manual())));
    client.post("/set?name=Ann", &[]);
    assert_eq!(client.post("/later", &[]).status(), 204);
    assert_eq!(client.get("/").text(), "- 0");
}

#[test]
fn a_session_has_a_limit() {
    each(|site, _| {
        let client = Client::of_site(site);
        let refused = client.post("/large", &[]);
        assert_eq!((refused.status().as_u16(), client.cookie(COOKIE)), (500, None));
        client.post("/set?name=Ann", &[]);
        assert_eq!(client.post("/large", &[]).status(), 500);
        assert_eq!((client.get("/").text(), client.post("/exists", &[]).text()), ("Ann 0", "true"));
    });
}

#[test]
fn all_sessions_of_a_user_end_and_no_other() {
    each(|site, clock| {
        let [home, phone, work, bob] = [(); 4].map(|()| Client::of_site(site));
        for ann in [&home, &phone, &work] {
            ann.post("/log-in-as?name=Ann", &[]);
        }
        bob.post("/log-in-as?name=Bob", &[]);
        // One that has another id by now, and one that is somebody else's.
        phone.post("/renew", &[]);
        work.post("/log-in-as?name=Bob", &[]);
        let before = id(&phone);
        assert_eq!(home.post("/end-all?name=Ann", &[]).status(), 204);
        assert_eq!((home.get("/").text(), phone.get("/").text()), ("- 0", "- 0"));
        assert!(home.cookie(COOKIE).is_none(), "the browser that asked for it forgets its own");
        assert_eq!((work.get("/").text(), bob.get("/").text()), ("Bob 0", "Bob 0"));
        clock.advance(2 * Duration::from_mins(1));
        assert_eq!(shown(site, &before), "- 0", "also when the mark of its end is gone");
        assert_eq!(home.post("/log-in-as?name=Ann", &[]).status(), 204);
        assert_eq!(home.get("/").text(), "Ann 0", "and the user comes back");
        Client::of_site(site).post("/end-all?name=Ann", &[]);
        assert_eq!(home.get("/").text(), "- 0", "it can be done without a session");
    });
}

#[test]
fn of_too_many_sessions_of_one_user_the_oldest_end() {
    let clock = Clock::manual();
    let mut setup = passing(&clock);
    setup.limits.user_sessions = 3;
    let site = open(setup);
    let clients: Vec<Client> = (0..5).map(|_| Client::of_site(&site)).collect();
    for client in &clients {
        client.post("/log-in-as?name=Ann", &[]);
        clock.advance(Duration::from_secs(1));
    }
    let shown: Vec<_> = clients.iter().map(|client| client.get("/").text().to_owned()).collect();
    assert_eq!(shown, ["- 0", "- 0", "Ann 0", "Ann 0", "Ann 0"]);
    // Another id is no other session.
    clients[4].post("/renew", &[]);
    clients[3].post("/log-in-as?name=Ann", &[]);
    assert_eq!([2, 3, 4].map(|at| clients[at].get("/").text().to_owned()), ["Ann 0"; 3]);
    // Who logs out makes room.
    clients[4].post("/log-out", &[]);
    clients[0].post("/log-in-as?name=Ann", &[]);
    assert_eq!(clients[2].get("/").text(), "Ann 0");
}

#[test]
fn where_there_are_too_many_those_of_nobody_end_first() {
    for (limit, bytes) in [(20, 1 << 30), (1_000_000, 15_000)] {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::manual());
        let mut setup = lasting(folder.path(), &clock);
        (setup.limits.sessions, setup.limits.session_store) = (limit, bytes);
        let site = open(setup);
        let ann = Client::of_site(&site);
        ann.post("/log-in-as?name=Ann", &[]);
        clock.advance(3 * DAY);
        let nobody = Client::of_site(&site);
        nobody.post("/set?name=Nobody", &[]);
        for _ in 0..200 {
            Client::of_site(&site).post("/set?name=a-name-that-takes-some-room-in-the-store-of-sessions", &[]);
        }
        assert_eq!((ann.get("/").text(), nobody.get("/").text()), ("Ann 0", "- 0"), "{limit} {bytes}");
    }
}

#[test]
fn an_address_begins_a_limited_number_of_sessions_in_a_minute() {
    let mut setup = passing(&Clock::system());
    setup.limits.sessions_per_address = 3;
    let site = open(setup);
    let begin = |address: &str| {
        let request =
            http::Request::post("/set?name=Ann").header("host", "localhost").header("origin", "http://localhost");
        let request = skep::Request::new(request.body(()).unwrap().into_parts().0, skep::Body::empty());
        let local = site.local();
        skep_cache::driver::block_on(local.answer(request.with_peer(Peer::new(address.parse().ok(), false)))).status()
    };
    assert!((0..3).all(|_| begin("192.0.2.1:80") == 204));
    assert_eq!((begin("192.0.2.1:81").as_u16(), begin("192.0.2.2:80").as_u16()), (429, 204));
}
