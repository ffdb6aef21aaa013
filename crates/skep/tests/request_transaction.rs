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
