//! A service for each thing that a component asks of its host. The tests of `skep-isolate` drive it native and as a component.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body::Frame;
use skep::Body;
use skep::cache::{Fragment, Life, Public, Store};
use skep::module::{self, Reuse};
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Row, migrations, query};

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let peer = cx.peer();
        Ok(Response::text(format!("{} {:?} {}", cx.id(), peer.address, cx.origin())))
    }
}

/// A table that start-up work fills.
struct Words(HashMap<String, u32>);

#[derive(Service)]
#[service(GET "/words/{word}")]
struct Word {
    word: String,
}

impl Handle for Word {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let number = cx.get::<Words>().0.get(&self.word).or_404()?;
        Ok(Response::text(number.to_string()))
    }
}

/// What must differ between two instances, and what they must not share.
#[derive(Service)]
#[service(GET "/chance")]
struct Chance;

impl Handle for Chance {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let hash = RandomState::new().hash_one(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Response::text(format!("{:016x} {hash:016x} {now} {count}", u64::from_le_bytes(random))))
    }
}

#[derive(Service)]
#[service(GET "/kept/{requests}")]
struct Kept {
    requests: u32,
}

impl Handle for Kept {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        module::cache((self.requests > 0).then(|| Reuse::default().requests(self.requests)));
        Ok(Response::text(COUNT.fetch_add(1, Ordering::Relaxed).to_string()))
    }
}

#[derive(Row)]
struct Note {
    id: i64,
    text: String,
    size: Option<f64>,
    data: Option<Vec<u8>>,
}

#[derive(Service)]
#[service(GET "/notes")]
struct Notes;

impl Handle for Notes {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let notes: Vec<Note> = cx.db().all("select * from note order by id").await?;
        let line = |note: &Note| format!("{} {} {:?} {:?}\n", note.id, note.text, note.size, note.data);
        Ok(Response::text(notes.iter().map(line).collect::<String>()))
    }
}

/// Adds two notes in a transaction, and then does something else.
#[derive(Service)]
#[service(POST "/notes/{text}/{then}")]
struct Add {
    text: String,
    then: String,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let values = (&self.text, 2.5, b"\x00\xff".as_slice());
        let db = cx.transaction().await?;
        let done = db.execute(query("insert into note (text, size, data) values (?, ?, ?)", values)).await?;
        let second = format!("{}, again", self.text);
        db.execute(query("insert into note (text) values (?)", &second)).await?;
        let inside = db.one::<i64>("select count(*) from note").await?.or_404()?;
        match self.then.as_str() {
            "refuse" => Err(Error::bad_request("it was asked to")),
            "panic" => panic!("it was asked to"),
            "forget" => {
                // Left open by who is gone.
                std::mem::forget(cx.db().transaction().await);
                Ok(Response::text("never"))
            }
            _ => Ok(Response::text(format!("{} {} {inside}", done.rows, done.last_insert_id))),
        }
    }
}

/// Errors that a handler decides by.
#[derive(Service)]
#[service(GET "/errors")]
struct Errors;

impl Handle for Errors {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.db();
        db.execute("insert or ignore into note (text) values ('once')").await?;
        let twice = db.execute("insert into note (text) values ('once')").await.err();
        let null = db.execute("insert into note (text) values (null)").await.err();
        let many = db.one::<i64>("select id from note union all select 0").await.err();
        let none = db.one::<String>("select text from note where id = -1").await?;
        let wrong = db.all::<i64>("select text from note where text = 'once'").await.err();
        let syntax = db.all::<i64>("selekt 1").await.err();
        let count = db.all::<i64>(query("select ?", (1, 2))).await.err();
        let begin = db.execute("begin").await.err();
        let unique = twice.as_ref().is_some_and(skep::sql::Error::is_unique_violation);
        let texts = [twice, null, many, wrong, syntax, count, begin].map(|error| error.map(|error| error.to_string()));
        Ok(Response::text(format!("{unique} {none:?}\n{texts:#?}")))
    }
}

const VISITS: Key<u32> = Key::new("visits");

#[derive(Service)]
#[service(POST "/visits")]
struct Visit;

impl Handle for Visit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.session().update(&VISITS, |visits| visits.unwrap_or(0) + 1).await?;
        cx.flash("noted");
        Ok(Response::text(visits.to_string()))
    }
}

#[derive(Service)]
#[service(GET "/visits")]
struct Visits;

impl Handle for Visits {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.session().get(&VISITS).await?;
        Ok(Response::text(format!("{visits:?} {:?}", cx.flashes())))
    }
}

const MADE: Store<str, u32> = Store::new("made");

#[derive(Hash)]
struct Part;

impl Fragment for Part {
    fn life(&self) -> Life {
        Life::of(Duration::from_mins(1)).tag("parts")
    }

    async fn make(&self, cx: &Public<'_>) -> Result<Html> {
        let made = cx.cache(&MADE);
        let count = made.get("part").await?.unwrap_or(0) + 1;
        made.set("part", &count).await?;
        Ok(html! { p { "made " (count) } })
    }
}

#[derive(Service)]
#[service(GET "/part")]
struct Parts;

impl Handle for Parts {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { (cx.fragment(&Part).await?) }))
    }
}

#[derive(Service)]
#[service(POST "/part")]
struct Void;

impl Handle for Void {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.invalidate("parts").await?;
        Ok(Response::text("void"))
    }
}

#[derive(Service)]
#[service(POST "/echo", body = 1_000_000)]
struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let body = cx.read_body().await?;
        tracing::warn!(target: "app", bytes = body.len(), "an echo\nof two lines");
        Ok(Response::new(body))
    }
}

/// A body that is made while it is sent.
struct Count(u32);

impl http_body::Body for Count {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        self.0 -= 1;
        Poll::Ready(Some(Ok(Frame::data(format!("{:>9999}\n", self.0).into()))))
    }
}

#[derive(Service)]
#[service(GET "/count/{pieces}")]
struct Pieces {
    pieces: u32,
}

impl Handle for Pieces {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::new(Body::stream(Count(self.pieces))))
    }
}

#[derive(Service)]
#[service(GET "/panic")]
struct Panic;

impl Handle for Panic {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        panic!("nobody is at home")
    }
}

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .named(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .serve::<(Index, Word, Chance, Kept, Notes, Add, Errors, Visit, Visits)>()
        .serve::<(Parts, Void, Echo, Pieces, Panic)>()
        .database(migrations!("migrations"))
        .every("tick", Duration::from_millis(20), |site| {
            // What a job keeps in a static is there when it runs again.
            static RUNS: AtomicU32 = AtomicU32::new(0);
            let runs = RUNS.fetch_add(1, Ordering::Relaxed);
            site.db().write(|db| db.execute(query("insert into note (text) values (?)", format!("tick {runs}"))))?;
            Ok(())
        })
        .with(Words((0..1000).map(|number| (format!("word{number}"), number)).collect()))
        .on_start(|site| {
            site.db().write(|db| db.execute("insert or ignore into note (id, text) values (1, 'first')"))?;
            site.invalidate("parts")
        })
}

skep::component!(app());
