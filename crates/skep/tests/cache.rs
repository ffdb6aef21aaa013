//! Pages, fragments and values that are kept: what is kept, for whom, and what ends it.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep::cache::{Clock, EntryPolicy, Fragment, PublicPage, SharedCx, Store, Tiers};
use skep::form::Messages;
use skep::header::{HeaderValue, SET_COOKIE};
use skep::html::Rows;
use skep::prelude::*;
use skep::sql::kind::Any;
use skep::sql::{FromValue, Migration, Migrations, Unfit, Value};
use skep::test::{Client, TestResponse};
use skep::{Method, Setup};

/// How often something was made, of an application.
#[derive(Default)]
struct Made(AtomicU32);

impl Made {
    fn once_more(&self) -> u32 {
        self.0.fetch_add(1, Relaxed) + 1
    }
}

fn hour() -> EntryPolicy {
    EntryPolicy::new(Duration::from_hours(1))
}

#[derive(Service)]
#[service(GET "/plain/{name}")]
struct Plain {
    name: String,
    #[query(default = 1)]
    page: u32,
}

impl PublicPage for Plain {
    fn policy(&self) -> EntryPolicy {
        hour().tag("all").tag(&format!("name:{}", self.name))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        match &*self.name {
            "missing" => return Err(Error::not_found().with_message("no such name")),
            "gone" => return Ok(Response::text("gone").with_status(StatusCode::GONE)),
            "cookie" => return Ok(Response::text("").with_header(SET_COOKIE, HeaderValue::from_static("a=b"))),
            "panic" => panic!("on purpose"),
            _ => {}
        }
        Ok(Response::text(format!("{} {} made {}", self.name, self.page, cx.state::<Made>().once_more())))
    }
}

/// What it reads hangs on its parameter.
#[derive(Service)]
#[service(GET "/reads/{what}")]
struct Reads {
    what: String,
}

impl PublicPage for Reads {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let mut text = format!("made {}", cx.state::<Made>().once_more());
        if self.what.contains("language") {
            text.push_str(" in ");
            text.push_str(cx.language());
        }
        if self.what.contains("origin") {
            text.push_str(" at ");
            text.push_str(&cx.absolute(Reads { what: "x".into() }));
        }
        if self.what.contains("nested") {
            text += cx.fragment(&Nested).await?.as_str();
        }
        if self.what.contains("fragment") {
            text += cx.fragment(&Cells { origin: true }).await?.as_str();
        }
        Ok(Response::text(text))
    }
}

#[derive(Service)]
#[service(GET "/agent")]
struct Agent {
    #[header("user-agent")]
    agent: Option<String>,
}

impl PublicPage for Agent {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(format!("{:?} made {}", self.agent, cx.state::<Made>().once_more())))
    }
}

#[derive(Hash)]
struct Cells {
    origin: bool,
}

impl Fragment<Rows> for Cells {
    fn policy(&self) -> EntryPolicy {
        hour().tag("all")
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html<Rows>> {
        let origin = if self.origin { cx.origin() } else { String::new() };
        Ok(html! { tr { td { (cx.state::<Made>().once_more()) } td { (origin) } } })
    }
}

/// A part with a part in it.
#[derive(Hash)]
struct Nested;

impl Fragment<Rows> for Nested {
    fn policy(&self) -> EntryPolicy {
        hour().tag("nested")
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html<Rows>> {
        let cells = cx.fragment(&Cells { origin: false }).await?;
        Ok(html! { (cells) tr { td { (cx.state::<Made>().once_more()) } } })
    }
}

/// A page that is one user's, with a part that is not.
#[derive(Service)]
#[service(GET "/mine")]
struct Mine;

impl Handle for Mine {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let rows = cx.fragment(&Cells { origin: false }).await?;
        Ok(Response::html(html! { p { (cx.cookie("name").unwrap_or("nobody")) } table { tbody { (rows) } } }))
    }
}

const COUNTS: Store<str, u32> = Store::with("counts", |counts| counts.ttl(Duration::from_mins(5)));
/// Of the same name, and not the same.
const CLASHING: Store<str, String> = Store::new("counts");

#[derive(Service)]
#[service(GET "/count/{key}")]
struct Count {
    key: String,
}

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let made = cx
            .cache(&COUNTS)
            .get_or(&self.key, async || Ok::<_, std::convert::Infallible>(cx.state::<Made>().once_more()))
            .await?;
        if self.key == "clash" {
            let _ = cx.cache(&CLASHING);
        }
        Ok(Response::text(made.to_string()))
    }
}

#[derive(Service)]
#[service(POST "/changed/{tag}")]
struct Changed {
    tag: String,
}

impl Handle for Changed {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.invalidate(&self.tag).await?;
        Ok(Response::empty(StatusCode::NO_CONTENT))
    }
}

fn app() -> App {
    App::new().serve(services![Plain, Reads, Agent, Mine, Count, Changed]).state(Made::default())
}

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup
}

fn text(client: &Client, url: &str) -> String {
    client.get(url).text().to_owned()
}

#[test]
fn a_page_is_made_once_for_each_of_its_parameters() {
    let client = Client::new(app());
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1");
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1");
    assert_eq!(text(&client, "/plain/a?page=1"), "a 1 made 1");
    assert_eq!(text(&client, "/plain/a?page=2"), "a 2 made 2");
    assert_eq!(text(&client, "/plain/b"), "b 1 made 3");
    // What the service does not declare, it does not read.
    assert_eq!(text(&client, "/plain/a?other=1"), "a 1 made 1");
}

#[test]
fn a_tag_ends_what_has_it_and_nothing_else() {
    let client = Client::new(app());
    assert_eq!((text(&client, "/plain/a"), text(&client, "/plain/b")), ("a 1 made 1".into(), "b 1 made 2".into()));
    assert_eq!(client.post("/changed/name:a", &[]).status(), 204);
    assert_eq!((text(&client, "/plain/a"), text(&client, "/plain/b")), ("a 1 made 3".into(), "b 1 made 2".into()));
    client.post("/changed/all", &[]);
    assert_eq!((text(&client, "/plain/a"), text(&client, "/plain/b")), ("a 1 made 4".into(), "b 1 made 5".into()));
    client.post("/changed/nobody-has-this", &[]);
    assert_eq!(text(&client, "/plain/a"), "a 1 made 4");
}

#[test]
fn code_that_may_block_ends_it_too() {
    let site = Arc::new(app().open(setup()).unwrap());
    let client = Client::of_site(&site);
    site.invalidate("all").unwrap();
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1");
    site.invalidate("all").unwrap();
    assert_eq!(text(&client, "/plain/a"), "a 1 made 2");
}

#[test]
fn what_a_browser_has_is_not_sent_again() {
    let client = Client::new(app());
    let first = client.get("/plain/a");
    assert_eq!(first.headers()["cache-control"], "public, no-cache");
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    let conditional = |tag: &str| client.request(Method::GET, "/plain/a").header("if-none-match", tag).send();
    let unchanged = conditional(&tag);
    assert_eq!((unchanged.status().as_u16(), unchanged.text()), (304, ""));
    assert_eq!(unchanged.headers()["etag"], tag.as_str());
    assert!(!unchanged.headers().contains_key("content-type"));
    assert_eq!(conditional("\"other\"").status(), 200);
    client.post("/changed/all", &[]);
    assert_eq!(conditional(&tag).text(), "a 1 made 2");
    // The same bytes have the same tag, whichever process made them.
    assert_eq!(Client::new(app()).get("/plain/a").headers()["etag"], tag.as_str());
    assert_ne!(Client::new(app()).get("/plain/b").headers()["etag"], tag.as_str());
    let head = client.request(Method::HEAD, "/plain/a").send();
    assert_eq!((head.text(), head.headers()["content-length"].to_str().unwrap()), ("", "10"));
}

#[test]
fn only_good_answers_are_kept() {
    let client = Client::new(app());
    for _ in 0..2 {
        let missing = client.get("/plain/missing");
        assert_eq!(missing.status(), 404);
        assert!(missing.text().contains("no such name"));
        assert_eq!(client.get("/plain/gone").status(), 410);
        assert!(!client.get("/plain/gone").headers().contains_key("etag"));
        assert_eq!(client.get("/plain/panic").status(), 500);
        let cookie = client.get("/plain/cookie");
        assert_eq!(cookie.status(), 500);
        assert!(!cookie.headers().contains_key("set-cookie"));
    }
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1");
}

#[test]
fn what_a_page_reads_it_is_kept_by() {
    let mut german = Messages::ENGLISH;
    german.language = "de";
    let client = Client::new(app().languages([Messages::ENGLISH, german]));
    let get = |what: &str, language: &'static str, host: &'static str| -> TestResponse {
        let url = format!("/reads/{what}");
        client.request(Method::GET, &url).header("accept-language", language).header("host", host).send()
    };
    for (language, host) in [("en", "a"), ("de", "a"), ("en", "b"), ("de", "b"), ("en", "a")] {
        for what in ["language", "origin", "language-origin"] {
            let answer = get(what, language, host);
            let text = answer.text();
            assert_eq!(text.contains(" in "), what.contains("language"), "{text}");
            assert!(
                !what.contains("language") || text.contains(&format!(" in {language}")),
                "{what} {language}: {text}"
            );
            assert!(!what.contains("origin") || text.contains(&format!(" at http://{host}/")), "{what} {host}: {text}");
            let vary = answer.headers().get("vary").map(|vary| vary.to_str().unwrap().to_owned());
            assert_eq!(vary.as_deref(), what.contains("language").then_some("accept-language"));
        }
    }
    // From now on, all of these are kept.
    let kept = |what: &str, language, host| get(what, language, host).text() == get(what, language, host).text();
    assert!(kept("language", "de", "c") && kept("origin", "fr", "c") && kept("language-origin", "de", "c"));
    assert_eq!(get("language", "de", "x").text(), get("language", "de", "y").text(), "the host is not read");
    assert_eq!(get("origin", "de", "a").text(), get("origin", "en", "a").text(), "the language is not read");
}

#[test]
fn what_a_fragment_reads_the_page_around_it_reads() {
    let client = Client::new(app());
    let get = |host: &'static str| {
        client.request(Method::GET, "/reads/fragment").header("host", host).send().text().to_owned()
    };
    assert!(get("a").contains("http://a") && get("b").contains("http://b"));
    // The fragment is kept already when another page takes it.
    let other = |host: &'static str| client.request(Method::GET, "/reads/other-fragment").header("host", host).send();
    assert!(other("a").text().contains("http://a") && other("b").text().contains("http://b"));
    assert_eq!(get("a"), get("a"));
}

#[test]
fn what_ends_a_fragment_ends_the_page_around_it() {
    let client = Client::new(app());
    // Neither page has a tag of its own. The second one finds the fragment, and the part in it, made already.
    let pages = ["/reads/nested", "/reads/another-nested"];
    // Before a tag has an epoch, what has it is not kept: the part in the middle makes one, and what is around began
    // before.
    let _ = pages.map(|page| text(&client, page));
    for tag in ["all", "nested"] {
        let before = pages.map(|page| text(&client, page));
        assert_eq!(pages.map(|page| text(&client, page)), before, "they are kept");
        client.post("/changed/nobody-has-this", &[]);
        assert_eq!(pages.map(|page| text(&client, page)), before);
        assert_eq!(client.post(&format!("/changed/{tag}"), &[]).status(), 204);
        let after = pages.map(|page| text(&client, page));
        assert!(before[0] != after[0] && before[1] != after[1], "{tag}: {before:?} {after:?}");
    }
}

#[test]
fn a_page_that_is_larger_than_allowed_is_an_error_and_not_kept() {
    let mut setup = setup();
    setup.limits.page = 12;
    let client = Client::with_setup(app(), setup);
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1");
    assert_eq!(client.get("/plain/longer").status(), 500);
}

#[test]
fn variants_beyond_the_limit_of_a_minute_are_made_and_not_kept() {
    let mut setup = setup();
    setup.limits.page_variants = 2;
    let client = Client::with_setup(app(), setup);
    for name in ["a", "b"] {
        assert_eq!(text(&client, &format!("/plain/{name}")), text(&client, &format!("/plain/{name}")), "it is kept");
    }
    assert_eq!(text(&client, "/plain/c"), "c 1 made 3");
    assert_eq!(text(&client, "/plain/c"), "c 1 made 4");
    assert!(client.get("/plain/c").headers().contains_key("etag"), "and described like any other");
    assert_eq!(text(&client, "/plain/a"), "a 1 made 1", "what was kept stays");
    let agent = client.request(Method::GET, "/agent").header("user-agent", "a");
    assert_eq!(agent.send().text(), "Some(\"a\") made 6");
    let agent = client.request(Method::GET, "/agent").header("user-agent", "a");
    assert_eq!(agent.send().text(), "Some(\"a\") made 6", "another type has a limit of its own");
}

#[test]
fn a_page_is_kept_for_all_lines_of_a_header_field() {
    let client = Client::with_setup(app(), setup());
    let get = |lines: &[&str]| {
        let request = client.request(Method::GET, "/agent");
        lines.iter().fold(request, |request, line| request.header("user-agent", line)).send().text().to_owned()
    };
    assert_eq!(get(&["a"]), "Some(\"a\") made 1");
    assert_eq!(get(&["a", "b"]), "Some(\"a, b\") made 2");
    assert_eq!(get(&["a", "c"]), "Some(\"a, c\") made 3");
    assert_eq!(get(&["a"]), "Some(\"a\") made 1");
    let not_text = client.request(Method::GET, "/agent").header("user-agent", "\u{e4}").send();
    assert_eq!(not_text.status(), 400);
}

#[test]
fn tiers_for_a_name_that_is_no_cache_are_a_problem() {
    let mut setup = setup();
    setup.caches.insert("counts".into(), Tiers::parse(["memory:1MiB"]).unwrap());
    let problem = app().check(&setup).unwrap_err().to_string();
    assert!(
        problem.contains("cache.counts.tiers: there is no cache \"counts\"; there are default, pages, sessions"),
        "{problem}"
    );
    assert!(app().open(setup.clone()).is_err());
    app().store(&COUNTS).check(&setup).unwrap();
    let client = Client::with_setup(app().store(&COUNTS), setup);
    assert_eq!(text(&client, "/count/a"), "1");
}

#[test]
fn a_header_field_that_a_service_declares_is_part_of_the_key() {
    let client = Client::new(app());
    let get = |agent: &'static str| client.request(Method::GET, "/agent").header("user-agent", agent).send();
    assert_eq!(get("a").text(), "Some(\"a\") made 1");
    assert_eq!(get("b").text(), "Some(\"b\") made 2");
    assert_eq!(get("a").text(), "Some(\"a\") made 1");
    assert_eq!(get("a").headers()["vary"], "user-agent");
}

#[test]
fn a_part_for_all_stands_in_a_page_for_one() {
    let app = app();
    let site = Arc::new(app.open(setup()).unwrap());
    let ann = Client::of_site(&site);
    let get = |name: &'static str| ann.request(Method::GET, "/mine").header("cookie", name).send();
    assert_eq!(get("name=Ann").text(), "<p>Ann</p><table><tbody><tr><td>1</td><td></td></tr></tbody></table>");
    assert_eq!(get("name=Bob").text(), "<p>Bob</p><table><tbody><tr><td>1</td><td></td></tr></tbody></table>");
    assert_eq!(get("name=Bob").headers()["cache-control"], "private, no-cache");
    assert!(!get("name=Bob").headers().contains_key("etag"));
}

#[test]
fn values_are_kept_by_store_and_key() {
    let client = Client::new(app());
    assert_eq!((text(&client, "/count/a"), text(&client, "/count/a")), ("1".into(), "1".into()));
    assert_eq!(text(&client, "/count/b"), "2");
    assert_eq!(client.get("/count/clash").status(), 500, "two stores of one name");
}

#[test]
fn tiers_are_a_matter_of_configuration() {
    let caches = [("pages", "null"), ("default", "memory:1MiB")]
        .map(|(name, tier)| (name.to_owned(), Tiers::parse([tier]).unwrap()));
    let mut setup = setup();
    setup.caches = caches.into();
    let client = Client::with_setup(app(), setup);
    assert_eq!((text(&client, "/plain/a"), text(&client, "/plain/a")), ("a 1 made 1".into(), "a 1 made 2".into()));
    assert_eq!((text(&client, "/count/a"), text(&client, "/count/a")), ("3".into(), "3".into()));
}

#[test]
fn in_development_nothing_is_kept() {
    let mut development = setup();
    development.development = true;
    let client = Client::with_setup(app(), development);
    assert_eq!((text(&client, "/plain/a"), text(&client, "/plain/a")), ("a 1 made 1".into(), "a 1 made 2".into()));
}

/// A page that waits until its gate is open.
#[derive(Service)]
#[service(GET "/slow")]
struct Slow;

#[derive(Default)]
struct Gate(std::sync::atomic::AtomicBool);

impl PublicPage for Slow {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let made = cx.state::<Made>().once_more();
        let (polled, gate) = (Cell::new(false), cx.state::<Gate>());
        std::future::poll_fn(|context| {
            polled.set(true);
            if gate.0.load(Relaxed) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        Ok(Response::text(format!("made {made} in {}", cx.language())))
    }
}

#[test]
fn many_who_ask_at_once_wait_for_one_and_each_gets_its_own() {
    let mut german = Messages::ENGLISH;
    german.language = "de";
    let app = App::new().serve(services![Slow]).state(Made::default()).state(Gate::default());
    let app = app.languages([Messages::ENGLISH, german]);
    let site = Arc::new(app.open(setup()).unwrap());
    let local = site.local();
    let request = |language: &'static str| {
        let request = http::Request::get("/slow").header("accept-language", language).header("host", "x");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Box::pin(local.answer(skep::Request::new(parts, skep::Body::empty())))
    };
    let mut waiting: Vec<_> = (0..50).map(|at| (at % 2 == 0, request(if at % 2 == 0 { "en" } else { "de" }))).collect();
    let mut context = Context::from_waker(Waker::noop());
    for (_, answer) in &mut waiting {
        assert!(pin!(answer).poll(&mut context).is_pending());
    }
    site.state::<Gate>().0.store(true, Relaxed);
    let mut done = 0;
    for _ in 0..200 {
        waiting.retain_mut(|(english, answer)| match answer.as_mut().poll(&mut context) {
            Poll::Ready(response) => {
                let text = String::from_utf8(response.body().as_whole().unwrap().to_vec()).unwrap();
                assert!(text.ends_with(if *english { " in en" } else { " in de" }), "{text}");
                done += 1;
                false
            }
            Poll::Pending => true,
        });
    }
    assert_eq!((done, waiting.len()), (50, 0));
    // Once to find that it reads the language, and once for each language.
    assert_eq!(site.state::<Made>().0.load(Relaxed), 3);
}

#[derive(Service)]
#[service(GET "/notes")]
struct Notes;

impl PublicPage for Notes {
    fn policy(&self) -> EntryPolicy {
        hour().tag("notes")
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let notes = cx.db().one::<i64>("select count(*) from note").await?;
        Ok(Response::text(format!("{notes:?}")))
    }
}

const NOTES: Migrations =
    Migrations::new(&[Migration::new(1, "0001_note.sql", "create table note (text text not null)")]);

/// Waits between its last word and the end of its transaction, as a handler does that answers a page.
#[derive(Service)]
#[service(POST "/notes")]
struct Write;

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?.execute("insert into note values ('x')").await?;
        cx.invalidate("notes").await?;
        let gate = cx.state::<Gate>();
        std::future::poll_fn(|_| if gate.0.load(Relaxed) { Poll::Ready(()) } else { Poll::Pending }).await;
        Ok(Response::see_other(Notes))
    }
}

#[test]
fn what_was_made_while_a_transaction_was_open_is_void_once_it_is_kept() {
    let app = App::new().serve(services![Notes, Write]).database(NOTES).state(Gate::default());
    let site = Arc::new(app.open(setup()).unwrap());
    let client = Client::of_site(&site);
    let local = site.local();
    let (parts, ()) = http::Request::post("/notes").body(()).unwrap().into_parts();
    let mut writing = pin!(local.answer(skep::Request::new(parts, skep::Body::empty())));
    let mut context = Context::from_waker(Waker::noop());
    assert!(writing.as_mut().poll(&mut context).is_pending());
    assert_eq!(text(&client, "/notes"), "Some(0)", "it is made while the other one still writes");
    site.state::<Gate>().0.store(true, Relaxed);
    assert!(writing.as_mut().poll(&mut context).is_ready());
    assert_eq!(text(&client, "/notes"), "Some(1)");
}

/// The same data, for two places.
#[derive(Hash)]
struct Twice;

impl Fragment<Rows> for Twice {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn make(&self, _cx: &SharedCx<'_>) -> Result<Html<Rows>> {
        Ok(html! { tr { td { "row" } } })
    }
}

impl Fragment for Twice {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn make(&self, _cx: &SharedCx<'_>) -> Result<Html> {
        Ok(html! { p { "paragraph" } })
    }
}

#[derive(Service)]
#[service(GET "/twice")]
struct Both;

impl Handle for Both {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (rows, text): (Html<Rows>, Html) = (cx.fragment(&Twice).await?, cx.fragment(&Twice).await?);
        Ok(Response::html(html! { table { tbody { (rows) } } (text) }))
    }
}

#[test]
fn a_fragment_for_two_places_is_kept_for_each() {
    let client = Client::new(App::new().serve(services![Both]));
    assert_eq!(text(&client, "/twice"), "<table><tbody><tr><td>row</td></tr></tbody></table><p>paragraph</p>");
}

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/checked"; $($input)*) } }

const CHECKED: Migrations = skep::sql::migrations!("tests/sql/checked");

/// Reads `post` through a view, and says how often it was made.
#[derive(Service)]
#[service(GET "/titles")]
struct Titles;

impl PublicPage for Titles {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let titles = cx.db().all(sql!(String, "select title from published order by id")).await?;
        let gate = cx.state::<Gate>();
        std::future::poll_fn(|_| if gate.0.load(Relaxed) { Poll::Pending } else { Poll::Ready(()) }).await;
        Ok(Response::text(format!("{} made {}", titles.join(" "), cx.state::<Made>().once_more())))
    }
}

/// Reads `tag`, in a transaction.
#[derive(Hash)]
struct Tags;

impl Fragment for Tags {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let db = cx.db().transaction().await?;
        let tags = db.all(sql!(String, "select name from tag where post in {[1, 2]} order by name")).await?;
        db.commit().await?;
        Ok(html! { (tags.join(" ")) " made " (cx.state::<Made>().once_more()) })
    }
}

/// Reads nothing itself.
#[derive(Service)]
#[service(GET "/tags")]
struct TagPage;

impl PublicPage for TagPage {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(Response::html(cx.fragment(&Tags).await?))
    }
}

/// Reads what a trigger writes.
#[derive(Service)]
#[service(GET "/changes")]
struct Changes;

impl PublicPage for Changes {
    fn policy(&self) -> EntryPolicy {
        hour()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let changes = cx.db().one(sql!(i64, "select count(*) from change")).await?.unwrap_or(0);
        Ok(Response::text(format!("{changes} made {}", cx.state::<Made>().once_more())))
    }
}

/// Adds a tag in the request's transaction, and fails if it is to.
#[derive(Service)]
#[service(POST "/tags/{name}")]
struct AddTag {
    name: String,
}

impl Handle for AddTag {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?.execute(sql!("insert into tag (post, name) values (1, ?)", &self.name)).await?;
        if self.name == "bad" { Err(Error::bad_request("no such tag")) } else { Ok(Response::see_other(TagPage)) }
    }
}

/// Renames a post by a statement of its own.
#[derive(Service)]
#[service(POST "/titles/{title}")]
struct Rename {
    title: String,
}

impl Handle for Rename {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(sql!("update post set title = ? where id = 1", &self.title)).await?;
        Ok(Response::see_other(Titles))
    }
}

fn checked() -> App {
    let app = App::new().serve(services![Titles, TagPage, Changes, AddTag, Rename]).database(CHECKED);
    let seed = |site: &skep::Site| {
        site.db().write(|db| {
            db.execute(sql!("insert into author (id, name) values (1, 'Ann')"))?;
            db.execute(sql!("insert into post (id, author, slug, title, seen) values (1, 1, 'a', 'A', 1)"))
        })?;
        Ok(())
    };
    app.state(Made::default()).state(Gate::default()).on_start(seed)
}

#[test]
fn a_page_is_made_again_once_a_table_is_written_that_it_read() {
    let site = Arc::new(checked().open(setup()).unwrap());
    let (client, db) = (Client::of_site(&site), site.db());
    assert_eq!(text(&client, "/titles"), "A made 1");
    db.write(|db| db.execute(sql!("insert into author (name) values ('Bob')"))).unwrap();
    db.write(|db| db.execute(sql!("update post set title = 'X' where id = 99"))).unwrap();
    assert_eq!(text(&client, "/titles"), "A made 1", "another table, and no row");
    db.write(|db| db.execute(sql!("update post set title = 'B'"))).unwrap();
    assert_eq!(text(&client, "/titles"), "B made 2");
    client.post("/titles/C", &[]);
    assert_eq!(text(&client, "/titles"), "C made 3");
    // A transaction counts once it is committed.
    let undone = db.write(|db| {
        db.transaction(|db| {
            db.execute(sql!("update post set title = 'D'"))?;
            db.execute(sql!("insert into author (name) values ('Bob')"))
        })
    });
    assert!(undone.unwrap_err().is_unique_violation());
    assert_eq!(text(&client, "/titles"), "C made 3");
    db.write(|db| db.transaction(|db| db.execute(sql!("update post set title = 'D'")))).unwrap();
    assert_eq!(text(&client, "/titles"), "D made 4");
    // What a text writes is not known, so it may be anything.
    db.write(|db| db.execute("update author set born = 1990")).unwrap();
    assert_eq!(text(&client, "/titles"), "D made 5");
    // A foreign key deletes as well.
    db.write(|db| db.execute(sql!("delete from author where id = 1"))).unwrap();
    assert_eq!(text(&client, "/titles"), " made 6");
    assert_eq!(text(&client, "/titles"), " made 6");
}

#[test]
fn a_page_is_made_again_once_a_table_is_written_that_a_fragment_in_it_read() {
    let site = Arc::new(checked().open(setup()).unwrap());
    let client = Client::of_site(&site);
    assert_eq!(text(&client, "/tags"), " made 1");
    assert_eq!(client.post("/tags/bad", &[]).status(), 400);
    assert_eq!(text(&client, "/tags"), " made 1", "it was rolled back");
    client.post("/tags/good", &[]);
    assert_eq!(text(&client, "/tags"), "good made 2");
    site.db().write(|db| db.execute(sql!("delete from author"))).unwrap();
    assert_eq!(text(&client, "/tags"), " made 3", "by two foreign keys");
}

#[test]
fn writes_to_some_tables_can_be_ignored() {
    let site = Arc::new(checked().open(setup()).unwrap());
    let client = Client::of_site(&site);
    assert_eq!(text(&client, "/changes"), "0 made 1");
    client.post("/titles/B", &[]);
    assert_eq!(text(&client, "/changes"), "1 made 3", "a trigger wrote; it is the third page that is made");
    let client = Client::new(checked().ignore_writes(&["change"]));
    assert_eq!(text(&client, "/changes"), "0 made 1");
    client.post("/titles/B", &[]);
    assert_eq!(text(&client, "/changes"), "0 made 1");
    assert_eq!(text(&client, "/titles"), "B made 2");
    let error = checked().ignore_writes(&["changes"]).open(setup()).err().unwrap().to_string();
    assert!(error.contains("no table \"changes\": did you mean \"change\"?"), "{error}");
}

#[test]
fn what_was_read_before_a_commit_is_not_stored_after_it() {
    let site = Arc::new(checked().open(setup()).unwrap());
    let client = Client::of_site(&site);
    let local = site.local();
    let (parts, ()) = http::Request::get("/titles").body(()).unwrap().into_parts();
    let mut reading = pin!(local.answer(skep::Request::new(parts, skep::Body::empty())));
    let mut context = Context::from_waker(Waker::noop());
    site.state::<Gate>().0.store(true, Relaxed);
    assert!(reading.as_mut().poll(&mut context).is_pending());
    site.db().write(|db| db.execute(sql!("update post set title = 'B'"))).unwrap();
    site.state::<Gate>().0.store(false, Relaxed);
    assert!(reading.as_mut().poll(&mut context).is_ready());
    assert_eq!(text(&client, "/titles"), "B made 2");
}

/// Keeps what it is given until it is to run.
#[derive(Default)]
struct Later(std::sync::Mutex<Vec<Box<dyn FnOnce() + Send>>>);

impl skep::offload::Offload for Later {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.lock().unwrap().push(job);
    }
}

impl Later {
    fn run_all(&self) {
        let jobs: Vec<_> = self.0.lock().unwrap().drain(..).collect();
        for job in jobs {
            job();
        }
    }
}

/// A client may go away while its write is under way.
#[test]
fn an_abandoned_write_invalidates_all_the_same() {
    let later = Arc::new(Later::default());
    let mut setup = setup();
    setup.offload = Arc::clone(&later) as Arc<dyn skep::offload::Offload>;
    let site = Arc::new(checked().open(setup).unwrap());
    assert_eq!(text(&Client::of_site(&site), "/titles"), "A made 1");
    let local = site.db().local();
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut writing = pin!(local.execute(sql!("update post set title = 'B'")));
        assert!(writing.as_mut().poll(&mut context).is_pending());
        later.run_all();
    }
    assert_eq!(text(&Client::of_site(&site), "/titles"), "B made 2");
    {
        let mut begun = pin!(local.transaction());
        assert!(begun.as_mut().poll(&mut context).is_pending());
        later.run_all();
        let Poll::Ready(Ok(transaction)) = begun.as_mut().poll(&mut context) else { panic!("it has not begun") };
        let mut writing = pin!(transaction.execute(sql!("update post set title = 'C'")));
        assert!(writing.as_mut().poll(&mut context).is_pending());
        later.run_all();
        assert!(writing.as_mut().poll(&mut context).is_ready());
    }
    later.run_all();
    assert_eq!(text(&Client::of_site(&site), "/titles"), "B made 2", "it was dropped, and so undone");
}

/// What makes rows of the answer is the application's, and comes after the write.
#[test]
fn a_write_whose_rows_panic_invalidates_all_the_same() {
    struct Bomb;

    impl FromValue for Bomb {
        type Sql = Any;

        fn from_value(_: Value<'_>) -> Result<Self, Unfit> {
            panic!("a bomb")
        }
    }

    let site = Arc::new(checked().open(setup()).unwrap());
    let client = Client::of_site(&site);
    assert_eq!(text(&client, "/titles"), "A made 1");
    let local = site.db().local();
    let mut writing = pin!(local.one::<Bomb>("update post set title = 'B' returning title"));
    let Poll::Ready(Err(error)) = writing.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("it has no rows")
    };
    assert!(error.to_string().contains("a bomb"), "{error}");
    assert_eq!(text(&client, "/titles"), "B made 2");
}

/// Every way to change what a page shows, from every thread, with every kind of tiers. The clock stands still.
#[test]
fn who_invalidates_sees_it_at_once_on_every_tier() {
    let all: [&[&str]; 8] = [
        &["memory:1MiB"],
        &["shared:4MiB path=none"],
        &["file:16MiB path=FOLDER/file"],
        &["sqlite:FOLDER/cache.db"],
        &["memory:1MiB", "file:16MiB path=FOLDER/file"],
        &["memory:1MiB", "sqlite:FOLDER/cache.db"],
        &["shared:4MiB path=none", "file:16MiB path=FOLDER/file"],
        &["memory:1MiB", "shared:4MiB path=none", "sqlite:FOLDER/cache.db"],
    ];
    for tiers in all {
        let folder = tempfile::tempdir().unwrap();
        let parsed = tiers.iter().map(|tier| tier.replace("FOLDER", folder.path().to_str().unwrap()));
        let mut setup = setup();
        setup.clock = Clock::manual();
        setup.caches = [("pages".to_owned(), Tiers::parse(parsed).unwrap())].into();
        let site = Arc::new(checked().serve(services![Plain, Changed]).open(setup).unwrap());
        // Each has a thread of its own.
        let clients = [Client::of_site(&site), Client::of_site(&site)];
        let job = || std::thread::scope(|threads| threads.spawn(|| site.invalidate("all").unwrap()).join().unwrap());
        let write = |title: &str| {
            site.db().write(|db| db.execute(sql!("update post set title = ?", title))).unwrap();
        };
        let pages = |url: &str| clients.each_ref().map(|client| text(client, url));
        let mut seen = std::collections::HashSet::new();
        let mut is_new = |url: &str, how: &str| {
            let [one, other] = pages(url);
            assert_eq!(one, other, "{tiers:?}: after {how}, {url} is another one for another thread");
            assert!(seen.insert(one.clone()), "{tiers:?}: after {how}, {url} is still {one}");
            assert_eq!(pages(url), [one, other], "{tiers:?}: {url} is cached");
        };
        is_new("/plain/a", "nothing");
        is_new("/titles", "nothing");
        is_new("/tags", "nothing");
        for (nth, client) in clients.iter().chain(&clients).enumerate() {
            client.post("/changed/all", &[]);
            is_new("/plain/a", "invalidate");
            job();
            is_new("/plain/a", "a job");
            client.post(&format!("/titles/t{nth}"), &[]);
            is_new("/titles", "a write");
            write(&format!("job {nth}"));
            is_new("/titles", "a write of a job");
            client.post(&format!("/tags/tag{nth}"), &[]);
            is_new("/tags", "a transaction");
        }
    }
}
