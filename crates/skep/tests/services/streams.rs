//! Responses that go on: any stream, rows of the database, events; and the test client that reads them piece by piece.
#![cfg(not(target_family = "wasm"))]

use std::convert::Infallible;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use skep::cache::Clock;
use skep::guard::{Guard, Recheck};
use skep::offload::Inline;
use skep::prelude::*;
use skep::sql::{Database, Local, Migration, Migrations, Options, query};
use skep::sse::Event;
use skep::test::{Client, TestStream};
use skep::{Body, Method, Setup, Site};
use tokio::sync::watch;

const MIGRATIONS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_hive.sql", "create table hive (id integer primary key, name text)")]);

/// How many rows of the export were made into text.
#[derive(Default)]
struct Written(AtomicUsize);

/// The value that pages wait for.
struct News(watch::Sender<u32>);

#[derive(Service)]
#[service(GET "/sleep")]
struct Sleep;

impl Handle for Sleep {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(Response::text(tokio::spawn(async { "slept" }).await.unwrap()))
    }
}

#[derive(Service)]
#[service(GET "/broken")]
struct Broken;

impl Handle for Broken {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let pieces = [Ok("one"), Ok(""), Ok("two"), Err("the shelf is empty")];
        Ok(Response::with_content_type("text/plain", Body::from_stream(stream::iter(pieces))))
    }
}

#[derive(Service)]
#[service(GET "/hives.csv")]
struct Export {
    wrong: Option<bool>,
}

impl Handle for Export {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let text =
            if self.wrong.is_some() { "select id, nam from hive" } else { "select id, name from hive where id > ?" };
        let rows = cx.db().stream::<(i64, String)>(query(text, 0)).await?;
        let app = cx.state::<Arc<Written>>().clone();
        let body = Body::from_rows(rows, "id,name\n", move |out, (id, name)| {
            app.0.fetch_add(1, Ordering::Relaxed);
            let _ = writeln!(out, "{id},{name}");
        });
        Ok(Response::with_content_type("text/csv", body))
    }
}

/// The same for spreadsheets.
#[handler(GET "/hives/all.csv")]
async fn Spreadsheet(cx: &mut Cx<'_>) -> Result {
    let rows = cx.db().stream::<(i64, String)>("select id, name from hive order by id").await?;
    Ok(Response::csv("Völker.csv", rows, ["id", "name"], |(id, name)| [id.to_string(), name]))
}

#[derive(Service)]
#[service(GET "/events")]
struct Listen;

impl Handle for Listen {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut news = cx.state::<News>().0.subscribe();
        if let Some(seen) = cx.last_event_id() {
            news.mark_changed();
            assert_eq!(seen, "7");
        }
        let events = stream::unfold(news, async |mut news| {
            news.changed().await.ok()?;
            let number = *news.borrow_and_update();
            Some((Ok::<_, Infallible>(Event::text(number.to_string()).id(number)), news))
        });
        Ok(cx.events(events).retry(Duration::from_secs(2)).into())
    }
}

/// How many hives there are, whenever that is asked: the stream owns a handle of the database, and tells when it is
/// dropped.
#[derive(Service)]
#[service(GET "/hives/count")]
struct Count;

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let open = Rc::new(Counted::new(&cx.state::<Counting>().0));
        let counts = stream::unfold((cx.db().clone(), open), async |(db, open)| {
            let count = db.one::<i64>("select count(*) from hive").await;
            Some((count.map(|count| Event::text(count.unwrap_or_default().to_string())), (db, open)))
        });
        Ok(cx.events(counts).into())
    }
}

/// How many of these streams there are.
struct Counting(watch::Sender<u32>);

struct Counted(watch::Sender<u32>);

impl Counted {
    fn new(open: &watch::Sender<u32>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// A stream that panics.
#[derive(Service)]
#[service(GET "/panics")]
struct Panics;

impl Handle for Panics {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let pieces = stream::once(async { panic!("on purpose") }).map(|()| Ok::<_, Infallible>("one"));
        Ok(Response::with_content_type("text/plain", Body::from_stream(pieces)))
    }
}

/// A stream that another thread has made.
#[derive(Service)]
#[service(GET "/elsewhere")]
struct Elsewhere;

impl Handle for Elsewhere {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let make = || Body::from_stream(stream::iter([Ok::<_, Infallible>("one")]));
        Ok(Response::with_content_type("text/plain", std::thread::spawn(make).join().unwrap()))
    }
}

fn app() -> App {
    App::new()
        .database(MIGRATIONS)
        .state(Arc::new(Written::default()))
        .state(News(watch::Sender::new(0)))
        .state(Counting(watch::Sender::new(0)))
        .serve(services![Sleep, Broken, Export, Spreadsheet, Listen, Count, Elsewhere, Panics])
}

fn site(clock: Clock) -> Arc<Site> {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, clock);
    Arc::new(app().open(setup).unwrap())
}

fn fill(db: &Database, rows: u32) {
    let text = "with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
                insert into hive select i, 'a hive with a name of some length' from n";
    db.write(|writer| writer.execute(query(text, rows))).unwrap();
}

fn open(client: &Client, url: &str) -> TestStream {
    client.request(Method::GET, url).open()
}

#[test]
fn handlers_await_what_needs_a_tokio_runtime() {
    assert_eq!(Client::new(app()).get("/sleep").text(), "slept");
}

#[tokio::test]
async fn the_client_works_where_tokio_runs_and_blocks_nobody() {
    let client = Client::new(app());
    let (one, other) = tokio::join!(
        client.request(Method::GET, "/sleep").into_future(),
        tokio::spawn({
            let client = client.clone();
            async move { client.request(Method::GET, "/sleep").await.status() }
        })
    );
    assert_eq!((one.text(), other.unwrap().as_u16()), ("slept", 200));
    assert_eq!(client.get("/sleep").text(), "slept", "blocking works as well");
}

#[test]
fn a_client_may_go_to_another_thread() {
    let client = Client::new(app());
    let text = std::thread::spawn(move || client.get("/sleep").text().to_owned()).join().unwrap();
    assert_eq!(text, "slept");
}

#[test]
fn a_body_is_read_piece_by_piece_and_breaks_off_with_its_stream() {
    let mut body = open(&Client::new(app()), "/broken");
    assert_eq!(body.next().unwrap(), "one");
    assert_eq!(body.next().unwrap(), "two", "an empty piece would be the end of a chunked body");
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body.next()));
    let text = *broken.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("the shelf is empty"), "{text}");
}

#[test]
fn many_rows_are_sent_while_a_few_are_in_memory() {
    let site = site(Clock::system());
    fill(site.db(), 200_000);
    let mut export = open(&Client::of_site(&site), "/hives.csv");
    let written = || site.state::<Arc<Written>>().0.load(Ordering::Relaxed);
    let (mut bytes, mut lines, mut most) = (0, 0, 0);
    for piece in &mut export {
        bytes += piece.len();
        lines += std::str::from_utf8(&piece).unwrap().lines().count();
        most = most.max(written() + 1 - lines);
    }
    assert_eq!((lines, written()), (200_001, 200_000));
    assert!(bytes > 6_000_000);
    assert!(most <= 1, "{most} rows were written and not sent");
}

#[test]
fn a_spreadsheet_gets_rows_as_a_download() {
    let site = site(Clock::system());
    site.db().write(|db| db.execute(query::<()>("insert into hive values (7, '=1+1'), (8, 'Jörg')", ()))).unwrap();
    let file = Client::of_site(&site).get("/hives/all.csv");
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let name = "attachment; filename=\"V_lker.csv\"; filename*=UTF-8''V%C3%B6lker.csv";
    assert_eq!(file.header("content-disposition"), Some(name));
    assert_eq!(file.text(), "\u{FEFF}\"id\",\"name\"\r\n\"7\",\"'=1+1\"\r\n\"8\",\"Jörg\"\r\n");
}

#[test]
fn a_wrong_query_is_an_error_page_and_not_half_a_body() {
    let client = Client::new(app());
    let answer = client.get("/hives.csv?wrong=true");
    assert_eq!(answer.status(), 500);
    assert!(answer.cause().unwrap().contains("no such column: nam"), "{:?}", answer.cause());
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// A database with this many rows and two streams at a time.
fn database(rows: u32, options: Options) -> Local {
    let folder = tempfile::tempdir().unwrap().keep();
    let database = Database::open(folder.join("db.sqlite"), &MIGRATIONS, options.streams(2), Arc::new(Inline)).unwrap();
    fill(&database, rows);
    database.local()
}

#[test]
fn rows_are_those_of_one_moment_and_come_in_their_order() {
    run(async {
        let db = database(5000, Options::new());
        let mut rows =
            db.stream::<(i64, String)>("select id as rowid, name from hive order by id desc;").await.unwrap();
        assert_eq!(rows.next_row().await.unwrap().unwrap().0, 5000);
        db.execute("delete from hive").await.unwrap();
        let rest: Vec<i64> = rows.map(|row| row.unwrap().0).collect().await;
        assert_eq!(rest, (1..5000).rev().collect::<Vec<_>>());
    });
}

#[test]
fn large_rows_are_read_one_by_one() {
    run(async {
        let db = database(40, Options::new());
        let text = "select zeroblob(1000000) from hive";
        let mut rows = db.stream::<Vec<u8>>(text).await.unwrap();
        rows.next_row().await.unwrap();
        assert_eq!(format!("{rows:?}"), "RowStream { ready: 0, .. }", "a batch ends with the row that fills it");
        assert_eq!(rows.count().await, 39);
    });
}

#[test]
fn the_number_of_streams_and_the_bytes_of_their_rows_are_limited() {
    run(async {
        let db = database(10, Options::new().stream_bytes(1 << 20));
        let open = async || db.stream::<i64>("select id from hive").await;
        let (first, second) = (open().await.unwrap(), open().await.unwrap());
        let error = open().await.unwrap_err();
        assert!(error.is_busy(), "{error}");
        drop(first);
        drop(open().await.unwrap());
        drop(second);
        let error = db.stream::<Vec<u8>>("select zeroblob(200000) from hive").await.unwrap_err();
        assert_eq!(Error::from(error).status(), 503);
        let error = db.stream::<i64>("insert into hive values (77, '') returning id").await.unwrap_err();
        assert!(error.to_string().starts_with("only what reads can be streamed"), "{error}");
    });
}

#[test]
fn events_come_as_they_happen_with_their_ids() {
    let site = site(Clock::system());
    let client = Client::of_site(&site);
    let mut events = open(&client, "/events");
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    assert_eq!(events.header("cache-control"), Some("no-store"));
    assert_eq!(events.next_event().unwrap(), "retry: 2000");
    for number in 1..4 {
        site.state::<News>().0.send_replace(number);
        assert_eq!(events.next_event().unwrap(), format!("id: {number}\ndata: {number}"));
    }
    let mut again = client.request(Method::GET, "/events").header("last-event-id", "7").open();
    assert_eq!(again.next_event().unwrap(), "retry: 2000");
    assert_eq!(again.next_event().unwrap(), "id: 3\ndata: 3");
}

/// The next count, after this many hives.
fn count_of(site: &Site, hives: u32, next: impl FnOnce() -> Option<String>) {
    fill(site.db(), hives);
    assert_eq!(next().unwrap(), format!("data: {hives}"));
    site.db().write(|writer| writer.execute("delete from hive")).unwrap();
}

#[test]
fn a_stream_reads_the_database_until_its_client_leaves() {
    let site = site(Clock::system());
    let mut counts = open(&Client::of_site(&site), "/hives/count");
    for hives in [3, 1, 4] {
        count_of(&site, hives, || counts.next_event());
    }
    assert_eq!(*site.state::<Counting>().0.borrow(), 1);
    drop(counts);
    assert_eq!(*site.state::<Counting>().0.borrow(), 0);
}

#[test]
fn a_stream_of_another_thread_breaks_off() {
    let mut body = open(&Client::new(app()), "/elsewhere");
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body.next()));
    let text = *broken.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("the stream was made on another thread"), "{text}");
}

/// The body of a response to the application under tower, which this thread reads: another one, of the handlers, makes
/// it.
async fn body_under_tower(service: &mut skep::tower::AppService, path: &str) -> Body {
    let request = http::Request::get(path).body(Body::empty()).unwrap();
    tower::Service::call(service, request).await.unwrap().into_body()
}

fn under_tower(site: &Arc<Site>) -> skep::tower::AppService {
    let (service, driver) = skep::tower::service(site);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime.block_on(driver.run()));
    service
}

#[tokio::test]
async fn under_tower_a_panic_in_a_stream_breaks_off_that_stream_alone() {
    let site = site(Clock::system());
    let mut service = under_tower(&site);
    let mut counts = body_under_tower(&mut service, "/hives/count").await;
    let broken = body_under_tower(&mut service, "/panics").await.collect(1000).await.unwrap_err();
    assert!(broken.to_string().contains("panicked"), "{broken}");
    assert!(http_body_util::BodyExt::frame(&mut counts).await.unwrap().is_ok());
    assert_eq!(body_under_tower(&mut service, "/sleep").await.collect(1000).await.unwrap(), "slept");
}

#[tokio::test]
async fn under_tower_a_stream_reads_the_database_until_its_client_leaves() {
    let site = site(Clock::system());
    let mut service = under_tower(&site);
    let mut body = body_under_tower(&mut service, "/hives/count").await;
    for _ in 0..3 {
        let event = http_body_util::BodyExt::frame(&mut body).await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(event, "data: 0\n\n");
    }
    let mut open = site.state::<Counting>().0.subscribe();
    assert_eq!(*open.borrow(), 1);
    drop(body);
    open.wait_for(|open| *open == 0).await.unwrap();
}

#[test]
fn a_heartbeat_is_sent_where_there_is_no_event() {
    let clock = Clock::manual();
    let site = site(clock.clone());
    let mut events = open(&Client::of_site(&site), "/events");
    assert_eq!(events.next_event().unwrap(), "retry: 2000");
    clock.advance(Duration::from_secs(14));
    site.state::<News>().0.send_replace(1);
    assert_eq!(events.next_event().unwrap(), "id: 1\ndata: 1");
    clock.advance(Duration::from_secs(14));
    site.state::<News>().0.send_replace(2);
    assert_eq!(events.next_event().unwrap(), "id: 2\ndata: 2", "the wait starts again with each event");
    clock.advance(Duration::from_secs(15));
    assert_eq!(events.next_event().unwrap(), ":");
}

#[test]
fn events_end_once_the_server_drains() {
    let client = Client::new(app());
    let mut events = open(&client, "/events");
    assert_eq!(events.next_event().unwrap(), "retry: 2000");
    let waiting = std::thread::spawn(move || events.next_event());
    client.drain();
    assert_eq!(waiting.join().unwrap(), None);
    let mut late = open(&client, "/events");
    assert_eq!((late.next_event().as_deref(), late.next_event()), (Some("retry: 2000"), None));
}

#[test]
fn no_text_makes_a_field_of_its_own() {
    let event = Event::text("a\rid: 7\nb\r\nc").name("x\ndata: y").id("1\r\n2\0");
    assert_eq!(event.to_string(), "event: xdata: y\nid: 12\ndata: a\ndata: id: 7\ndata: b\ndata: c\n\n");
}

/// True while everybody is let in.
struct Open(AtomicBool);

struct LetIn;

impl Guard for LetIn {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        cx.recheck::<Self>();
        Self::begin(cx).await
    }
}

impl Recheck for LetIn {
    async fn begin(_cx: &Cx<'_>) -> Result<Self> {
        Ok(Self)
    }

    async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
        assert_eq!(cx.uri().path(), "/ticks", "it has the request that was admitted");
        Ok(cx.state::<Open>().0.load(Ordering::Relaxed))
    }
}

#[derive(Service)]
#[service(GET "/ticks")]
struct Ticks {
    #[guard]
    _let_in: LetIn,
}

impl Handle for Ticks {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(cx.events(stream::pending::<Result<Event, Infallible>>()).into())
    }
}

#[test]
fn what_a_guard_asks_again_ends_a_stream_that_it_would_refuse() {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    let app = App::new().serve(services![Ticks]).state(Open(AtomicBool::new(true)));
    let site = Arc::new(app.open(setup).unwrap());
    let mut ticks = open(&Client::of_site(&site), "/ticks");
    clock.advance(Duration::from_secs(16));
    assert_eq!(ticks.next_event().unwrap(), ":", "it goes on");
    site.state::<Open>().0.store(false, Ordering::Relaxed);
    clock.advance(Duration::from_secs(16));
    assert!(std::iter::from_fn(|| ticks.next_event()).all(|event| event == ":"), "it ends");
}
