//! The page of a failure in development: what it shows, to whom, and what it suggests.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use skep::fetch::FetchRequest;
use skep::prelude::*;
use skep::session::Key;
use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Method, Setup};

const NAME: Key<String> = Key::new("name");

/// Runs statements, one after another.
#[derive(Service)]
#[service(GET "/run")]
struct Run {
    #[query]
    sql: String,
}

impl Handle for Run {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &"Ann <private>".to_owned()).await?;
        for statement in self.sql.split(';') {
            if let Some(statement) = statement.strip_prefix("one ") {
                let _: Option<(i64,)> = cx.db().one(query(statement, ())).await?;
            } else {
                cx.db().execute(query(statement, ())).await?;
            }
        }
        Ok(Response::text("done"))
    }
}

/// Makes a mistake.
#[derive(Service)]
#[service(GET "/fail/{what}")]
struct Fail {
    what: String,
    #[query]
    token: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
struct Hive {
    #[expect(dead_code, reason = "it is read, and lacks it")]
    frames: u32,
}

impl Handle for Fail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        tracing::warn!("about to fail");
        let (text, zero) = (black_box("é"), black_box(0_usize));
        match &*self.what {
            "none" => drop(self.token.unwrap()),
            "err" => drop("x".parse::<u8>().unwrap()),
            "index" => drop(black_box(vec![1])[zero + 7]),
            "char" => drop(text[..1].to_owned()),
            "overflow" => drop(black_box(zero - 1)),
            "divide" => drop(vec![1 / zero]),
            "todo" => panic!("not yet implemented"),
            "borrowed" => {
                let cell = RefCell::new(1);
                let (_first, _second) = (cell.borrow(), cell.borrow_mut());
            }
            "mutably" => {
                let cell = RefCell::new(1);
                let (_first, _second) = (cell.borrow_mut(), cell.borrow());
            }
            "runtime" => tokio::runtime::Builder::new_current_thread().build()?.block_on(async {}),
            "state" => drop(*cx.state::<u16>()),
            "database" => drop(cx.db().execute(query("select 1", ())).await?),
            "fetch" => drop(cx.fetch(FetchRequest::get("https://example.org/")).await?),
            "file" => drop(std::fs::read("no/such/file")?),
            "denied" => Err(io::Error::from_raw_os_error(13))?,
            "files" => Err(io::Error::from_raw_os_error(24))?,
            "address" => {
                let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                TcpListener::bind(held.local_addr()?)?;
            }
            "refused" => {
                let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
                TcpStream::connect(address)?;
            }
            "field" => {
                serde_json::from_str::<Hive>("{}")?;
            }
            "type" => {
                serde_json::from_str::<Hive>("{\"frames\":\"two\"}")?;
            }
            other => return Err(Error::internal(other.to_owned())),
        }
        Ok(Response::text("done"))
    }
}

fn client(with_database: bool, development: bool) -> Client {
    let app = App::new().serve(services![Run, Fail]);
    let app = if with_database { app.database(skep::sql::migrations!("tests/sql/hives")) } else { app };
    let mut setup = Setup::default();
    (setup.temporary_database, setup.development) = (true, development);
    Client::with_setup(app, setup).at_address("127.0.0.1")
}

fn get(client: &Client, url: &str) -> TestResponse {
    client
        .request(Method::GET, url)
        .header("accept", "text/html")
        .header("sec-fetch-mode", "navigate")
        .header("x-api-key", "private-key")
        .header("referer", "http://localhost/shop?token=private-token&password=private-key&page=7")
        .send()
}

/// The suggestion of the page.
fn suggestion(response: &TestResponse) -> String {
    let page = response.text();
    let (_, rest) = page.split_once("class=\"suggestion\">").unwrap_or_else(|| panic!("no suggestion: {page}"));
    rest.split("</p>").next().unwrap().replace("<code>", "`").replace("</code>", "`")
}

/// Statements, and a part of what is suggested.
const STATEMENTS: [(&str, &str); 14] = [
    ("select 1 from bees", "No migration makes this table"),
    ("select wings from hive", "A migration has to add the column"),
    ("insert into hive (wings) values (1)", "A migration has to add the column"),
    ("select buzz(1)", "sql_function!"),
    (
        "insert into hive (name, frames) values ('a', 1);insert into hive (name, frames) values ('a', 2)",
        "is_unique_violation",
    ),
    (
        "create table honey (hive integer references hive (id)) strict;insert into honey values (99)",
        "not there, or others",
    ),
    ("insert into hive (name) values ('b')", "give the column a `default`"),
    (
        "create table jar (size integer check (size &gt; 0)) strict;insert into jar values (0)",
        "A migration forbids this value",
    ),
    ("insert into hive (name, frames) values ('c', 'many')", "`strict`"),
    ("insert into hive (id, name, frames) values ('x', 'c', 1)", "another type than its column"),
    ("selec 1", "does not understand the statement"),
    ("one select 1 union all select 2", "`one` reads a single row"),
    ("select ?", "one value for each `?`"),
    ("begin", "cx.transaction()"),
];

/// Mistakes of a handler, and a part of what is suggested.
const MISTAKES: [(&str, &str); 20] = [
    ("none", "answers with 404"),
    ("err", "Write `?` instead"),
    ("index", ".get(index)"),
    ("char", "floor_char_boundary"),
    ("overflow", "checked_..."),
    ("divide", "checked_div"),
    ("todo", "it is to be written"),
    ("borrowed", "across an `.await`"),
    ("mutably", "across an `.await`"),
    ("runtime", "instead of `block_on`"),
    ("state", "App::new().state(value)"),
    ("database", "Add `.database("),
    ("fetch", "feature `fetch`"),
    ("file", "assets!"),
    ("denied", "namei -l"),
    ("files", "ulimit -n"),
    ("address", "ss -ltnp"),
    ("refused", "Nothing listens"),
    ("field", "#[serde(default)]"),
    ("type", "another type there"),
];

/// What other systems say, which is no mistake that this process could make.
const OF_OTHERS: [(&str, &str); 17] = [
    ("database is locked", "Another process writes"),
    ("attempt to write a readonly database", "may not write the database"),
    ("database or disk is full", "no room left"),
    ("file is not a database", "no SQLite database"),
    ("password authentication failed for user \"shop\"", "postgres://USER"),
    ("permission denied for table post", "`grant` it"),
    ("duplicate key value violates unique constraint \"post_slug_key\"", "is_unique_violation"),
    ("insert on table \"a\" violates foreign key constraint \"b\"", "look for it first"),
    ("relation \"post\" does not exist", "skep sql check"),
    ("database \"shop\" does not exist", "createdb"),
    ("role \"shop\" does not exist", "createuser"),
    ("null value in column \"a\" of relation \"b\" violates not-null constraint", "give the column a `default`"),
    ("new row for relation \"b\" violates check constraint \"c\"", "A migration forbids this value"),
    ("syntax error at or near \"selec\"", "does not understand the statement"),
    ("error connecting to server: No such file or directory (os error 2)", "No PostgreSQL answers"),
    ("mail.smtp needs skep-server with the cargo feature `smtp`", "Turn the feature on"),
    ("failed to lookup address information: Name or service not known", "No host has this name"),
];

#[test]
fn the_commonest_mistakes_have_a_suggestion() {
    let (client, without) = (client(true, true), client(false, true));
    let mut found = BTreeSet::new();
    for (statement, expected) in STATEMENTS {
        let query = statement.replace("&gt;", "%3E").replace(' ', "+").replace('?', "%3F");
        let response = get(&client, &format!("/run?sql={query}"));
        assert!(suggestion(&response).contains(expected), "{statement}: {}", suggestion(&response));
        found.insert(suggestion(&response));
    }
    for (mistake, expected) in MISTAKES {
        let client = if mistake == "database" { &without } else { &client };
        let response = get(client, &format!("/fail/{mistake}"));
        assert!(suggestion(&response).contains(expected), "{mistake}: {}", suggestion(&response));
        found.insert(suggestion(&response));
    }
    for (error, expected) in OF_OTHERS {
        let suggested = skep_units::suggestion(error).unwrap();
        assert!(suggested.contains(expected), "{error}: {suggested}");
        found.insert(suggested.to_owned());
    }
    assert!(found.len() >= 40, "{}", found.len());
}

#[test]
fn the_page_has_what_is_known_of_the_request_and_nothing_secret() {
    let client = client(true, true);
    let response = get(&client, "/run?sql=select+1+from+hive;select+1+from+bees&token=private-token");
    let page = response.text();
    assert_eq!(response.status(), 500);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    for part in [
        "no such table: bees",
        "<dt>Path</dt><dd>GET /run</dd>",
        "Run (GET /run)",
        "select 1 from hive",
        "<h2>Session: its keys</h2><pre tabindex=\"0\">name</pre>",
        // Where the error was made, with the lines around it.
        "crates/skep/tests/services/development.rs:",
        "cx.db().execute(query(statement, ())).await?;",
        "Copy as Markdown",
        "http://localhost/shop?token=***&amp;password=***&amp;page=7",
        "## Statements",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for secret in ["private-token", "private-key", "&lt;private"] {
        assert!(!page.contains(secret), "{secret}: {page}");
    }
}

#[test]
fn a_panic_has_its_place() {
    let response = get(&client(true, true), "/fail/none");
    let page = response.text();
    assert!(page.contains("crates/skep/tests/services/development.rs:"), "{page}");
    assert!(page.contains("drop(self.token.unwrap())"), "{page}");
}

#[test]
fn nobody_else_sees_it() {
    let mistake = "/fail/none";
    let production = get(&client(true, false), mistake);
    assert!(!production.text().contains("suggestion") && !production.text().contains("unwrap"));
    let client = client(true, true);
    let json = |client: &Client| {
        let json = client.request(Method::GET, mistake).header("accept", "application/json").send();
        assert_eq!(json.header("content-type"), Some("application/problem+json"));
        json.text().to_owned()
    };
    assert!(json(&client).contains("unwrap"));
    let elsewhere = client.clone().at_address("192.0.2.1");
    for text in [get(&elsewhere, mistake).text(), &json(&elsewhere)] {
        assert!(text.contains("Internal Server Error") && !text.contains("suggestion") && !text.contains("unwrap"));
    }
    let script = client.request(Method::GET, mistake).header("accept", "text/html").send();
    assert!(!script.text().contains("class=\"suggestion\""));
    // The client's own mistakes have the usual page.
    assert!(!get(&client, "/nowhere").text().contains("Copy as Markdown"));
}
