//! The database.

use skep::prelude::*;
use skep::sql::{Row, query};

/// A `derive(Param)` enum is a column in a component, too.
#[derive(Clone, Copy, Debug, Param)]
pub(crate) enum Length {
    Short,
    Long,
}

#[derive(Row)]
pub(crate) struct Note {
    id: i64,
    text: String,
    length: Length,
    size: Option<f64>,
    data: Option<Vec<u8>>,
}

#[derive(Service)]
#[service(GET "/notes")]
pub(crate) struct Notes;

impl Handle for Notes {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let notes: Vec<Note> = cx.db().all("select * from note order by id").await?;
        let line = |note: &Note| {
            let Note { id, text, length, size, data } = note;
            format!("{id} {text} {length:?} {size:?} {data:?}\n")
        };
        Ok(Response::text(notes.iter().map(line).collect::<String>()))
    }
}

/// Adds two notes in a transaction, and then does something else.
#[derive(Service)]
#[service(POST "/notes/{text}/{then}")]
pub(crate) struct Add {
    text: String,
    then: String,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let values = (&self.text, 2.5, b"\x00\xff".as_slice());
        let db = cx.transaction().await?;
        let done = db.execute(query("insert into note (text, size, data) values (?, ?, ?)", values)).await?;
        let second = format!("{}, again", self.text);
        let length = if second.len() > 10 { Length::Long } else { Length::Short };
        db.execute(query("insert into note (text, length) values (?, ?)", (&second, &length))).await?;
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
pub(crate) struct Errors;

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
