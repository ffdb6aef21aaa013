//! The application under test: jobs that write what they have done into a table.

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::Setup;
use skep::cache::Clock;
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Migration, Migrations, query};
use skep::test::Client;
use skep_jobs::prelude::*;
use skep_jobs::{Batch, Jobs, Missed, Priority};
use skep_live::{LiveApp, Topic, Topics};

const TABLES: &str = "create table effect (job bigint not null, note text not null);
                      create table run (job bigint not null, began bigint not null, ended bigint);
                      create table asked (jobs bigint not null);
                      create table minute (at bigint not null)";

const POSTGRES: Migrations = Migrations::new(&[Migration::new(1, "0001_effects.sql", TABLES)]);

pub(crate) const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_effects.sql",
    "create table effect (job integer not null, note text not null);
     create table run (job integer not null, began integer not null, ended integer);
     create table asked (jobs integer not null);
     create table minute (at integer not null)",
)])
.with_postgres(&POSTGRES);

/// Writes a note in its transaction.
#[derive(Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) note: String,
}

impl Job for Note {
    const KIND: &'static str = "note";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        if self.note == "cancel itself" {
            // As somebody else does meanwhile.
            cx.db().execute(query("delete from skep_job where id = ?", cx.id())).await?;
        }
        let db = cx.transaction().await?;
        db.execute(query("insert into effect (job, note) values (?, ?)", (cx.id(), &self.note))).await?;
        match &*self.note {
            "fail" => Err(Error::bad_request("it fails")),
            "panic" => panic!("it panics"),
            "snooze" => Ok(Outcome::Snooze(Duration::from_mins(1))),
            "give up" => Ok(Outcome::GiveUp("it cannot be done".into())),
            "last attempt only" if !cx.is_last_attempt() => Err(Error::bad_request("not yet")),
            _ => Ok(Outcome::Done),
        }
    }
}

/// Takes its time, and notes when. Few of them run at once.
#[derive(Serialize, Deserialize)]
pub(crate) struct Slow {
    pub(crate) millis: u64,
}

impl Job for Slow {
    const KIND: &'static str = "slow";
    const QUEUE: &'static str = "slow";
    const TIME_LIMIT: Duration = Duration::from_secs(20);

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let now = || std::time::UNIX_EPOCH.elapsed().map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(0));
        cx.db().execute(query("insert into run (job, began) values (?, ?)", (cx.id(), now()))).await?;
        tokio::time::sleep(Duration::from_millis(self.millis)).await;
        let update = query("update run set ended = ? where job = ? and ended is null", (now(), cx.id()));
        cx.db().execute(update).await?;
        Ok(Outcome::Done)
    }
}

/// Writes a note and ends its process before the transaction commits, once in each life of the database.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kill {
    pub(crate) always: bool,
}

impl Job for Kill {
    const KIND: &'static str = "kill";
    const QUEUE: &'static str = "kill";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        if self.always || cx.attempt() == 1 {
            let db = cx.transaction().await?;
            db.execute(query("insert into effect (job, note) values (?, 'killed')", cx.id())).await?;
            skep_drill::kill(std::process::id().cast_signed(), rustix::process::Signal::KILL);
        }
        let db = cx.transaction().await?;
        db.execute(query("insert into effect (job, note) values (?, 'after')", cx.id())).await?;
        Ok(Outcome::Done)
    }
}

/// Writes how many jobs of its batch are dead letters.
#[derive(Serialize, Deserialize)]
struct End;

impl Job for End {
    const KIND: &'static str = "end";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let note = format!("end, {} dead", cx.dead_in_batch().await?);
        let db = cx.transaction().await?;
        db.execute(query("insert into effect (job, note) values (?, ?)", (cx.id(), note))).await?;
        Ok(Outcome::Done)
    }
}

/// Writes the moment of the schedule that it is of, in seconds.
#[derive(Serialize, Deserialize)]
struct Minute;

impl Job for Minute {
    const KIND: &'static str = "minute";

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        let moment = cx.due().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let db = cx.transaction().await?;
        db.execute(query("insert into minute (at) values (?)", i64::try_from(moment).unwrap_or(0))).await?;
        Ok(Outcome::Done)
    }
}

/// Ends as no job should: with zeros in its errors, with pauses without an end, with panics outside its future.
#[derive(Serialize, Deserialize)]
pub(crate) struct Odd {
    how: String,
}

/// The one in the queue's only slot is followed by another one.
pub(crate) const ODD: &str = "insert into skep_job (kind, queue, priority, at, created, attempt, payload) values
    ('odd', 'odd', 1, 0, 0, 0, '{\"how\":\"fail\"}'), ('odd', 'odd', 1, 0, 0, 0, '{\"how\":\"panic\"}'),
    ('odd', 'odd', 1, 0, 0, 0, '{\"how\":\"start\"}'), ('odd', 'odd', 1, 0, 0, 0, '{\"how\":\"give up\"}'),
    ('odd', 'odd', 1, 0, 0, 1, '{\"how\":\"fail\"}')";

impl Job for Odd {
    const KIND: &'static str = "odd";
    const QUEUE: &'static str = "odd";

    fn run(self, _cx: &mut JobCx<'_>) -> impl Future<Output = Result<Outcome>> {
        assert!(self.how != "start", "it does not start");
        async move {
            let text = format!("a\0b{}", "x".repeat(20_000));
            match &*self.how {
                "fail" => Err(Error::internal(text)),
                "panic" => panic!("{text}"),
                _ => Ok(Outcome::GiveUp(text)),
            }
        }
    }

    fn retry_after(attempts: u32) -> Duration {
        assert!(attempts == 1, "it knows no pause");
        Duration::MAX
    }
}

/// Enqueues a note, and fails after that if it should.
#[derive(Service)]
#[service(POST "/notes/{note}")]
struct Enqueue {
    note: String,
    #[query]
    after: Option<u64>,
    #[query]
    fails: Option<bool>,
    #[query]
    unique: Option<String>,
    #[query]
    low: Option<bool>,
    #[query]
    alone: Option<bool>,
}

impl Handle for Enqueue {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.alone.is_none() {
            cx.transaction().await?;
        }
        let mut order = Note { note: self.note }.after(Duration::from_secs(self.after.unwrap_or(0)));
        if let Some(key) = self.unique {
            order = order.unique_for(key, Duration::from_mins(10));
        }
        if self.low.is_some() {
            order = order.priority(Priority::Low);
        }
        let id = cx.later(order).await?;
        if self.fails.is_some() {
            return Err(Error::conflict("it is undone"));
        }
        Ok(Response::text(id.map_or_else(|| "none".to_owned(), |id| id.to_string())))
    }
}

/// Enqueues many notes in one transaction.
#[derive(Service)]
#[service(POST "/many/{count}")]
struct Many {
    count: u32,
}

impl Handle for Many {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?;
        for _ in 0..self.count {
            cx.later(Note { note: "many".into() }).await?;
        }
        Ok(Response::text("enqueued"))
    }
}

/// Enqueues notes as a batch, those between commas, and fails after that if it should.
#[derive(Service)]
#[service(POST "/batch/{notes}")]
struct EnqueueBatch {
    notes: String,
    #[query]
    fails: Option<bool>,
    #[query]
    unique: Option<String>,
    #[query]
    alone: Option<bool>,
}

impl Handle for EnqueueBatch {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.alone.is_none() {
            cx.transaction().await?;
        }
        let notes = self.notes.split(',').filter(|note| *note != "none").map(|note| Note { note: note.to_owned() });
        let end = match self.unique {
            Some(key) => End.unique_for(key, Duration::from_mins(10)),
            None => End.into(),
        };
        let id = cx.later_batch(Batch::ending_with(end).jobs(notes)).await?;
        if self.fails.is_some() {
            return Err(Error::conflict("it is undone"));
        }
        Ok(Response::text(id.map_or_else(|| "none".to_owned(), |id| id.to_string())))
    }
}

/// Enqueues many notes as a batch, and notes how many that are.
#[derive(Service)]
#[service(POST "/ordered/{count}")]
struct Ordered {
    count: i64,
}

impl Handle for Ordered {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        db.execute(query("insert into asked (jobs) values (?)", self.count)).await?;
        let notes = (0..self.count).map(|_| Note { note: "many".into() });
        cx.later_batch(Batch::ending_with(End).jobs(notes)).await?;
        Ok(Response::text("enqueued"))
    }
}

#[derive(Service)]
#[service(POST "/slow/{millis}")]
struct EnqueueSlow {
    millis: u64,
}

impl Handle for EnqueueSlow {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.later(Slow { millis: self.millis }).await?;
        Ok(Response::text("enqueued"))
    }
}

#[derive(Service)]
#[service(POST "/kill/{always}")]
struct EnqueueKill {
    always: bool,
}

impl Handle for EnqueueKill {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.later(Kill { always: self.always }).await?;
        Ok(Response::text("enqueued"))
    }
}

#[derive(Service)]
#[service(POST "/cancel/{id}")]
struct Cancel {
    id: i64,
}

impl Handle for Cancel {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.cancel_job(self.id).await?.to_string()))
    }
}

/// A request that takes its time, and notes that it has begun.
#[derive(Service)]
#[service(GET "/wait/{millis}")]
struct Wait {
    millis: u64,
}

impl Handle for Wait {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute("insert into effect (job, note) values (0, 'waits')").await?;
        tokio::time::sleep(Duration::from_millis(self.millis)).await;
        Ok(Response::text("waited"))
    }
}

/// What a statement of a test gives, a row a line.
#[derive(Service)]
#[service(GET "/ask")]
struct Ask {
    #[query]
    sql: String,
}

impl Handle for Ask {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let rows: Vec<String> = cx.db().all(query(&self.sql, ())).await?;
        Ok(Response::text(rows.join("\n")))
    }
}

#[derive(Service)]
#[service(POST "/change")]
struct Change {
    #[query]
    sql: String,
}

impl Handle for Change {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.db().execute(query(&self.sql, ())).await?.rows.to_string()))
    }
}

/// The lease of an application that has this in its environment: of longer than any test waits.
pub(crate) const LONG_LEASE: &str = "JOBS_LONG_LEASE";

const LONG: Duration = Duration::from_mins(10);

pub(crate) fn jobs() -> Jobs {
    let jobs = jobs![Note, Slow, Kill, Odd, End].queue("slow", 2).queue("kill", 1).queue("odd", 1);
    jobs.lease(if std::env::var_os(LONG_LEASE).is_some() { LONG } else { Duration::from_millis(600) })
}

/// The services, without jobs.
pub(crate) fn bare() -> App {
    App::new().name("jobs", "1").database(MIGRATIONS).serve(services![
        Enqueue,
        Many,
        EnqueueBatch,
        Ordered,
        EnqueueSlow,
        EnqueueKill,
        Cancel,
        Wait,
        Ask,
        Change,
    ])
}

pub(crate) fn app() -> App {
    bare().jobs(jobs())
}

/// The same with a schedule, names of who uses it, and a topic.
pub(crate) fn scheduled() -> App {
    let pattern = std::env::var(crate::disasters::SCHEDULED).expect("main looks");
    let jobs = jobs().kind::<Minute>().cron_missed(&pattern, "UTC", Missed::RunEach, Minute);
    bare().jobs(jobs).topics(Topics::new()).serve(services![SetName, Name, Say, Hear])
}

const NAME: Key<String> = Key::new("name");

const SAID: Topic<String> = Topic::new("said");

#[derive(Service)]
#[service(POST "/name/{name}")]
struct SetName {
    name: String,
}

impl Handle for SetName {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &self.name).await?;
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(GET "/name")]
struct Name;

impl Handle for Name {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.session().get(&NAME).await?.unwrap_or_default()))
    }
}

#[derive(Service)]
#[service(POST "/say/{text}")]
struct Say {
    text: String,
}

impl Handle for Say {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?;
        SAID.publish(cx, "all", &self.text).await?;
        Ok(Response::text("said"))
    }
}

#[derive(Service)]
#[service(GET "/hear")]
struct Hear;

impl Handle for Hear {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        SAID.events(cx, "all", None).await
    }
}

/// A client, and the clock of its application.
pub(crate) fn client(app: App) -> (Client, Clock) {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.clock = Clock::manual();
    let clock = setup.clock.clone();
    (Client::with_setup(app, setup), clock)
}

/// A text in a query.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        // Writing into memory does not fail.
        _ = write!(all, "%{byte:02X}");
        all
    })
}

/// Asks the database.
pub(crate) fn ask(client: &Client, sql: &str) -> String {
    let response = client.get(&format!("/ask?sql={}", encoded(sql)));
    assert_eq!(response.status(), 200, "{sql}");
    response.text().to_owned()
}

pub(crate) fn change(client: &Client, sql: &str) {
    assert_eq!(client.post(&format!("/change?sql={}", encoded(sql)), &[]).status(), 200, "{sql}");
}

/// The notes that jobs have written, in order.
pub(crate) fn notes(client: &Client) -> String {
    ask(client, "select note from effect order by rowid")
}
