//! The transaction of a request: kept with `Ok`, undone with everything else.
#![cfg(not(target_family = "wasm"))]

use skep::Setup;
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
    let client = Client::new(App::new().database(MIGRATIONS).serve(services![Write, Count]));
    assert_eq!(client.post("/notes/a?end=error", &[]).status(), 403);
    assert_eq!(client.post("/notes/a?end=panic", &[]).status(), 500);
    assert_eq!(client.get("/notes").text(), "0");
    assert_eq!(client.post("/notes/a?end=well", &[]).text(), "Some(1)");
    assert_eq!(client.get("/notes").text(), "1");
}

#[test]
fn a_write_past_the_requests_own_transaction_is_an_error_and_not_a_wait_without_end() {
    let client = Client::new(App::new().database(MIGRATIONS).serve(services![Past, After, Count]));
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
    let client = Client::new(App::new().database(MIGRATIONS).serve(services![Audited, Count]));
    let response = client.post("/audited", &[]);
    assert_eq!(response.text(), "Some(2)");
    assert_eq!(response.header("etag"), Some("\"1\""));
    assert_eq!(client.get("/notes").text(), "3");
}

/// Says these texts, behind a write.
#[derive(Service)]
#[service(POST "/flash")]
struct Flash {
    #[form]
    text: Vec<String>,
    how: String,
}

impl Handle for Flash {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match self.how.as_str() {
            "transaction" => drop(cx.transaction().await?.execute("insert into note values ('kept')").await?),
            _ => drop(cx.db().execute("insert into note values ('kept')").await?),
        }
        self.text.into_iter().for_each(|text| cx.flash(text));
        Ok(Response::see_other(Said))
    }
}

#[derive(Service)]
#[service(GET "/said")]
struct Said;

impl Handle for Said {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Response::json(&cx.flashes())
    }
}

/// What was written stands, whatever is to be said of it; and browsers keep the cookie.
#[test]
fn a_flash_message_that_does_not_fit_is_shortened_and_nothing_is_lost() {
    let app = App::new().serve(services![Flash, Said]).database(MIGRATIONS);
    let client = Client::new(app);
    let long = |text: &str| text.repeat(6000 / text.len());
    let (letters, signs, escaped) = (long("p"), long("🐝ä"), long("\"\n"));
    let cases: [&[&str]; 9] = [
        &["Saved."],
        &[&letters],
        &[&signs],
        &[&escaped],
        &["first", &letters, "last"],
        &["first", &letters[..2500], &letters, "last"],
        &[&letters[..2846]],
        &[&letters[..2847]],
        &[&letters[..2840], "", "last"],
    ];
    for texts in cases {
        for how in ["transaction", "write"] {
            let fields: Vec<_> = texts.iter().map(|text| ("text", *text)).collect();
            let sent = client
                .request(skep::Method::POST, &format!("/flash?how={how}"))
                .form(&fields)
                .without_redirects()
                .send();
            assert_eq!(sent.status(), 303, "{how}");
            let cookie = sent.headers()["set-cookie"].to_str().unwrap();
            assert!(cookie.len() <= 4096, "{} bytes", cookie.len());
            let said: Vec<String> = serde_json::from_str(client.get("/said").text()).unwrap();
            let whole = |(said, given): (&String, &&str)| said == given;
            let short = said.iter().zip(texts).filter(|pair| !whole((pair.0, pair.1))).count();
            assert!(short <= 1, "one is shortened at most");
            for (said, given) in said.iter().zip(texts) {
                assert!(given.starts_with(said.trim_end_matches('…')), "{said}");
            }
            let fits = texts.iter().map(|text| serde_json::to_string(text).unwrap().len() + 1).sum::<usize>() < 2850;
            assert_eq!(said.len() == texts.len() && short == 0, fits, "{said:?}");
            assert!(
                said.iter().map(String::len).sum::<usize>() >= texts.concat().len().min(1400),
                "most of it is said"
            );
        }
    }
}

/// Writes, and then sets a text of this length in the session.
#[derive(Service)]
#[service(POST "/session/{letters}")]
struct Keep {
    letters: usize,
}

const TEXT: skep::session::Key<String> = skep::session::Key::new("text");

impl Handle for Keep {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?.execute("insert into note values ('kept')").await?;
        cx.session().set(&TEXT, &"x".repeat(self.letters)).await?;
        Ok(Response::text("kept"))
    }
}

/// In a sealed cookie, in a store with a limit of ours, and in one with a smaller limit of its own.
#[test]
fn a_session_value_that_does_not_fit_is_an_error_before_anything_is_committed() {
    type Store = (&'static str, usize, usize, fn(&mut Setup));
    let change: [Store; 4] = [
        ("a cookie", 2_000, 3_500, |setup| setup.session.store = skep::session::SessionStore::Cookie),
        ("the limit", 60_000, 70_000, |setup| setup.limits.session = 64 << 10),
        ("memory", 60_000, 900_000, |setup| {
            setup.limits.session = 4 << 20;
            setup.caches.insert("sessions".into(), skep::cache::Tiers::parse(["memory:1MiB"]).unwrap());
        }),
        ("a shared map", 3_000, 10_000, |setup| {
            setup.limits.session = 4 << 20;
            setup.caches.insert("sessions".into(), skep::cache::Tiers::parse(["shared:1MiB path=none"]).unwrap());
        }),
    ];
    for (what, fits, too_much, change) in change {
        let mut setup = Setup::default();
        setup.temporary_database = true;
        change(&mut setup);
        let client = Client::with_setup(App::new().serve(services![Keep, Count]).database(MIGRATIONS), setup);
        let sent = client.post(&format!("/session/{fits}"), &[]);
        assert_eq!((sent.status().as_u16(), client.get("/notes").text()), (200, "1"), "{what}: {:?}", sent.cause());
        let sent = client.post(&format!("/session/{too_much}"), &[]);
        assert_eq!((sent.status().as_u16(), client.get("/notes").text()), (500, "1"), "{what}: {:?}", sent.cause());
        assert_eq!(client.post(&format!("/session/{fits}"), &[]).status(), 200, "{what}: the session goes on");
    }
}
