//! The application under test: notes in rooms, which are published, and shown by a page.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::cache::{EntryPolicy, Fragment, SharedCx};
use skep::guard::{Guard, Limited, RateLimit, Recheck};
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Migrations, migrations, query};
use skep_live::prelude::*;

/// A statement on the tables of these tests.
macro_rules! stored {
    ($($input:tt)*) => { skep::sql!(in "tests/live/migrations"; $($input)*) };
}

pub(crate) const MIGRATIONS: Migrations = migrations!("tests/live/migrations");

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) text: String,
}

/// Notes, by their room.
pub(crate) const NOTES: Topic<Note> = Topic::new("notes");

/// Short where processes are killed, on a clock that is not moved.
const LEASE: Duration = Duration::from_secs(3);

/// How often the notes of a room were rendered.
#[derive(Default)]
pub(crate) struct Renderings(pub(crate) AtomicU64);

/// Writes a note into a room and publishes it, in one transaction.
#[derive(Service)]
#[service(POST "/rooms/{room}/notes/{text}")]
struct Write {
    room: String,
    text: String,
    #[query]
    fails: Option<bool>,
    #[query]
    alone: Option<bool>,
}

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let note = Note { text: self.text };
        if self.alone.is_some() {
            cx.db().execute(stored!("insert into note (room, text) values (?, ?)", &self.room, &note.text)).await?;
            NOTES.publish(cx, &*self.room, &note).await?;
            return Ok(Response::text("written"));
        }
        let db = cx.transaction().await?;
        db.execute(stored!("insert into note (room, text) values (?, ?)", &self.room, &note.text)).await?;
        NOTES.publish(cx, &*self.room, &note).await?;
        if self.fails.is_some() {
            return Err(Error::conflict("it is undone"));
        }
        Ok(Response::text("written"))
    }
}

/// Many notes of one room, each in a transaction of its own.
#[derive(Service)]
#[service(POST "/rooms/{room}/many/{from}/{count}")]
struct Many {
    room: String,
    from: u32,
    count: u32,
}

impl Handle for Many {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        for number in self.from..self.from + self.count {
            let db = cx.db().transaction().await?;
            NOTES.publish_in(&db, cx, &*self.room, &Note { text: number.to_string() }).await?;
            db.commit().await?;
        }
        Ok(Response::text("written"))
    }
}

/// The notes of a room as events.
#[derive(Service)]
#[service(GET "/rooms/{room}/events")]
struct Events {
    room: String,
    #[query]
    after: Option<i64>,
}

impl Handle for Events {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        NOTES.events(cx, &*self.room, self.after).await
    }
}

#[derive(Service)]
#[service(GET "/rooms/{room}/socket")]
struct Socket {
    room: String,
    #[query]
    after: Option<i64>,
}

impl Handle for Socket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        NOTES.socket(cx, &*self.room, self.after).await
    }
}

/// A page of a room with the number that it was made at; its notes are a fragment, which is made once for all.
#[derive(Service)]
#[service(GET "/rooms/{room}")]
struct Room {
    room: String,
}

impl Handle for Room {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let seen = NOTES.position(cx).await?;
        let notes = cx.fragment(&Notes { room: self.room.clone() }).await?;
        Ok(Response::html(html! { h1 { (seen) } (live("notes", notes)) p { "outside" } }))
    }
}

#[derive(Hash)]
struct Notes {
    room: String,
}

impl Fragment for Notes {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(10))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        cx.state::<Renderings>().0.fetch_add(1, Ordering::Relaxed);
        let notes =
            cx.db().all(stored!(String, "select text from note where room = ? order by id", &self.room)).await?;
        Ok(html! { ul { @for note in notes { li { (note) } } } })
    }
}

/// Who has a key that is in the database.
pub(crate) struct KeyHolder {
    key: String,
}

impl Guard for KeyHolder {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let holder = Self::begin(cx).await?;
        if !holder.holds(cx).await? {
            return Err(Error::forbidden("this key opens nothing"));
        }
        cx.recheck::<Self>();
        Ok(holder)
    }
}

impl Recheck for KeyHolder {
    async fn begin(cx: &Cx<'_>) -> Result<Self> {
        Ok(Self { key: cx.header(&skep::header::FROM).unwrap_or_default().to_owned() })
    }

    async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
        Ok(cx.db().one(stored!(i64, "select id from holder where key = ?", &self.key)).await?.is_some())
    }
}

/// A page that is made for one viewer.
#[derive(Service)]
#[service(GET "/own")]
struct Own {
    #[guard]
    holder: KeyHolder,
}

impl Handle for Own {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let count = cx.db().one(stored!(i64, "select count(*) from note")).await?;
        let own = html! { p { (self.holder.key) " sees " (count.unwrap_or_default()) } };
        Ok(Response::html(live("own", own)))
    }
}

const NAME: Key<String> = Key::new("name");

/// A page of who has a session.
#[derive(Service)]
#[service(GET "/session")]
struct Session;

impl Handle for Session {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let name = cx.session().get(&NAME).await?;
        let count = cx.db().one(stored!(i64, "select count(*) from note")).await?;
        let seen = html! { (name.as_deref().unwrap_or("nobody")) " sees " (count.unwrap_or_default()) };
        Ok(Response::html(live("session", seen)))
    }
}

#[derive(Service)]
#[service(POST "/session/{name}")]
struct Begin {
    name: String,
}

impl Handle for Begin {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &self.name).await?;
        Ok(Response::text("begun"))
    }
}

/// What may be looked at once an hour.
struct Seldom;

impl RateLimit for Seldom {
    const NAME: &'static str = "seldom";
    const BURST: u32 = 1;
    const EACH: Duration = Duration::from_hours(1);

    fn key(_cx: &Cx<'_>) -> Option<String> {
        Some("everybody".into())
    }
}

#[derive(Service)]
#[service(GET "/seldom")]
struct Limits {
    #[guard]
    _limited: Limited<Seldom>,
}

impl Handle for Limits {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let count = cx.db().one(stored!(i64, "select count(*) from note")).await?;
        Ok(Response::html(live("seldom", html! { (count.unwrap_or_default()) })))
    }
}

/// A page that differs each time that it is made.
#[derive(Service)]
#[service(GET "/asked")]
struct Asked;

impl Handle for Asked {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let asked = cx.state::<Renderings>().0.fetch_add(1, Ordering::Relaxed) + 1;
        cx.db().one(stored!(i64, "select count(*) from note")).await?;
        Ok(Response::html(live("asked", html! { (asked) })))
    }
}

/// A form whose response is a page.
#[derive(Service)]
#[service(POST "/asked")]
struct AskedByForm;

impl Handle for AskedByForm {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(live("asked", html! { "by a form" })))
    }
}

/// A form that leads to a page.
#[derive(Service)]
#[service(POST "/rooms/{room}/leave")]
struct Leave {
    room: String,
}

impl Handle for Leave {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.flash("You have left.");
        Ok(Response::see_other(Room { room: self.room }.at("left")))
    }
}

/// Nobody has it.
struct Invitation;

impl Guard for Invitation {
    async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
        Err(Response::see_other(Room { room: "a".into() }).into())
    }
}

#[derive(Service)]
#[service(POST "/rooms/a/guarded")]
struct Guarded {
    #[guard]
    _invitation: Invitation,
}

impl Handle for Guarded {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("admitted"))
    }
}

#[derive(Service)]
#[service(GET "/script")]
struct ScriptPage;

impl Handle for ScriptPage {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { (DOCTYPE) html lang="en" { head { title { "A script" } (live_script()) } body {} } }))
    }
}

#[derive(Serialize, Deserialize)]
struct Person {
    name: String,
}

/// Who is in a room.
const PEOPLE: Presence<Person> = Presence::new("people");

/// A page of who is in a room, and of who looks at it.
#[derive(Service)]
#[service(GET "/rooms/{room}/people")]
struct People {
    room: String,
    #[query]
    id: Option<u32>,
    #[query]
    name: Option<String>,
}

impl Handle for People {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if let (Some(id), Some(mut name)) = (self.id, self.name) {
            if name == "counts" {
                let count = cx.db().one(stored!(i64, "select count(*) from note")).await?;
                name = format!("{} notes", count.unwrap_or_default());
            }
            PEOPLE.track(cx, &*self.room, id, &Person { name: name.clone() })?;
            if name == "nobody" {
                return Err(Error::forbidden("not for you"));
            }
        }
        let present = Present { room: self.room };
        // Who is nobody asks for the moment.
        let people = if self.id.is_some() { cx.fragment(&present).await? } else { present.make(cx.shared()).await? };
        Ok(Response::html(html! { (live("people", people)) }))
    }
}

#[derive(Hash)]
struct Present {
    room: String,
}

impl Fragment for Present {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(10))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let people = PEOPLE.list(cx, &*self.room).await?;
        let names: Vec<String> = people.into_iter().map(|person| person.name).collect();
        Ok(html! { p { (names.join(", ")) } })
    }
}

#[derive(Service)]
#[service(GET "/rooms/{room}/arrivals")]
struct Arrivals {
    room: String,
    #[query]
    id: u32,
    #[query]
    name: String,
    #[query]
    after: Option<i64>,
}

impl Handle for Arrivals {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        PEOPLE.events(cx, &*self.room, self.id, &Person { name: self.name }, self.after).await
    }
}

#[derive(Service)]
#[service(GET "/rooms/{room}/door")]
struct Door {
    room: String,
    #[query]
    id: u32,
    #[query]
    name: String,
}

impl Handle for Door {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        PEOPLE.socket(cx, &*self.room, self.id, &Person { name: self.name }, None).await
    }
}

/// Changes the database in any way: tables are not known.
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

/// Writes a table that no page reads.
#[derive(Service)]
#[service(POST "/elsewhere")]
struct Elsewhere;

impl Handle for Elsewhere {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(stored!("insert into elsewhere (text) values ('x')")).await?;
        Ok(Response::text("written"))
    }
}

#[derive(Service)]
#[service(POST "/holders/{key}/end")]
struct End {
    key: String,
}

impl Handle for End {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().execute(stored!("delete from holder where key = ?", &self.key)).await?;
        Ok(Response::text("ended"))
    }
}

pub(crate) fn app_with(topics: Topics) -> App {
    App::new()
        .name("live", "1")
        .database(MIGRATIONS)
        .state(Renderings::default())
        .serve(services![
            Write,
            Many,
            Events,
            Socket,
            Room,
            Own,
            Asked,
            AskedByForm,
            Leave,
            Guarded,
            ScriptPage,
            People,
            Arrivals,
            Door,
            Change,
            Elsewhere,
            End,
            Session,
            Begin,
            Limits
        ])
        .topics(topics)
        .live_pages()
        .presence(Presences::new().lease(LEASE))
}

pub(crate) fn app() -> App {
    app_with(Topics::new())
}
