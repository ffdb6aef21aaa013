//! The transaction of a request: kept with `Ok`, undone with everything else.
#![cfg(not(target_family = "wasm"))]

use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep::test::Client;

const MIGRATIONS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_note.sql", "create table note (text text not null)")]);

#[derive(Service)]
#[service(POST "/notes/{text}")]
struct Write {
    text: String,
    end: String,
}

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?.execute(query("insert into note values (?)", &self.text)).await?;
        let again = cx.transaction().await?.one::<i64>("select count(*) from note").await?;
        match self.end.as_str() {
            "error" => Err(Error::forbidden("on purpose")),
            "panic" => panic!("on purpose"),
            _ => Ok(Response::text(format!("{again:?}"))),
        }
    }
}

/// Writes past its own open transaction.
#[derive(Service)]
#[service(POST "/past/{how}")]
struct Past {
    how: String,
}

impl Handle for Past {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?.execute("insert into note values ('inside')").await?;
        match self.how.as_str() {
            "execute" => drop(cx.db().execute("insert into note values ('past')").await?),
            "returning" => drop(cx.db().all::<i64>("insert into note values ('past') returning 1").await?),
            "transaction" => drop(cx.db().transaction().await?),
            _ => drop(cx.db().one::<i64>("select count(*) from note").await?),
        }
        Ok(Response::text("done"))
    }
}

/// A helper of the kind that every application has: it takes `cx`, and writes in the transaction of its caller.
async fn audit(cx: &mut Cx<'_>, text: &str) -> Result<()> {
    cx.flash(text);
    cx.transaction().await?.execute(query("insert into note values (?)", text)).await?;
    Ok(())
}

/// Calls helpers while its transaction is open.
#[derive(Service)]
#[service(POST "/audited")]
struct Audited;

impl Handle for Audited {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        db.execute("insert into note values ('before')").await?;
        audit(cx, "audited").await?;
        let count = db.one::<i64>("select count(*) from note").await?;
        cx.set_header(skep::header::ETAG, skep::HeaderValue::from_static("\"1\""));
        db.execute("insert into note values ('after')").await?;
        Ok(Response::text(format!("{count:?}")))
    }
}

/// Writes by itself after a transaction that has ended, and beside one of another request.
#[derive(Service)]
#[service(POST "/after")]
struct After;

impl Handle for After {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let transaction = cx.db().transaction().await?;
        transaction.execute("insert into note values ('a')").await?;
        transaction.commit().await?;
        drop(cx.db().transaction().await?);
        cx.db().execute("insert into note values ('b')").await?;
        Ok(Response::text("done"))
    }
}

#[derive(Service)]
#[service(GET "/notes")]
struct Count;

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let count = cx.db().one::<i64>("select count(*) from note").await?.unwrap_or(0);
        Ok(Response::text(count.to_string()))
    }
}

#[test]
fn a_handler_that_returns_ok_keeps_what_it_wrote_and_no_other_does() {
    let client = Client::new(App::new().database(MIGRATIONS).serve::<(Write, Count)>());
    assert_eq!(client.post("/notes/a?end=error", &[]).status(), 403);
    assert_eq!(client.post("/notes/a?end=panic", &[]).status(), 500);
    assert_eq!(client.get("/notes").text(), "0");
    assert_eq!(client.post("/notes/a?end=well", &[]).text(), "Some(1)");
    assert_eq!(client.get("/notes").text(), "1");
}

#[test]
fn a_write_past_the_requests_own_transaction_is_an_error_and_not_a_wait_without_end() {
    let client = Client::new(App::new().database(MIGRATIONS).serve::<(Past, After, Count)>());
    for how in ["execute", "returning", "transaction"] {
        assert_eq!(client.post(&format!("/past/{how}"), &[]).status(), 500, "{how}");
    }
    assert_eq!(client.get("/notes").text(), "0", "the transactions of the failed requests are undone");
    assert_eq!(client.post("/past/read", &[]).status(), 200, "reading waits for nothing");
    assert_eq!(client.post("/after", &[]).status(), 200);
    assert_eq!(client.get("/notes").text(), "3");
}

#[test]
fn a_transaction_borrows_nothing_of_cx_so_that_helpers_may_take_it() {
    let client = Client::new(App::new().database(MIGRATIONS).serve::<(Audited, Count)>());
    let response = client.post("/audited", &[]);
    assert_eq!(response.text(), "Some(2)");
    assert_eq!(response.header("etag"), Some("\"1\""));
    assert_eq!(client.get("/notes").text(), "3");
}
