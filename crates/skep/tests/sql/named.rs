//! Databases beside the first one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::{Migrations, NamedDatabase, migrations};
use skep::test::Client;
use skep::{Secret, Setup, StartError};

const HIVES: Migrations = migrations!("tests/sql/hives");

struct Counters;

impl NamedDatabase for Counters {
    const NAME: &'static str = "counters";
    const MIGRATIONS: Migrations = migrations!("tests/sql/counters");
}

#[derive(Service)]
#[service(GET "/visits")]
struct Visits;

impl PublicPage for Visits {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let visits = sql!(in "tests/sql/counters"; i64, "select count(*) from visit");
        Ok(Response::text(format!("{:?}", cx.db_of::<Counters>().one(visits).await?)))
    }
}

#[derive(Service)]
#[service(POST "/visits/{path}")]
struct Visit {
    path: String,
    #[query(default = true)]
    kept: bool,
}

impl Handle for Visit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.db_of::<Counters>().transaction().await?;
        visits.execute(sql!(in "tests/sql/counters"; "insert into visit values (?)", &self.path)).await?;
        // The first database has a writer of its own.
        cx.db()
            .execute(sql!(in "tests/sql/hives"; "insert into hive (name, frames) values (?, 8)", &self.path))
            .await?;
        // This would wait for the transaction of its own request.
        let beside = cx.db_of::<Counters>().execute("delete from visit").await;
        if self.kept {
            visits.commit().await?;
        }
        Ok(Response::text(beside.map_or_else(|error| error.to_string(), |done| format!("{done:?}"))))
    }
}

/// Of a database that the application does not have.
#[derive(Service)]
#[service(GET "/nowhere")]
struct Nowhere;

struct Other;

impl NamedDatabase for Other {
    const NAME: &'static str = "Other!";
    const MIGRATIONS: Migrations = Migrations::NONE;
}

impl Handle for Nowhere {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db_of::<Other>().execute("select 1").await?;
        Ok(Response::text(""))
    }
}

fn app() -> App {
    App::new().serve(services![Visits, Visit, Nowhere]).database(HIVES).database_of::<Counters>()
}

#[test]
fn each_has_its_own_tables_transactions_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::default();
    setup.data = folder.path().to_owned();
    let site = Arc::new(app().open(setup.clone()).unwrap());
    let client = Client::of_site(&site);
    assert_eq!(client.get("/visits").text(), "Some(0)");
    let said = client.post("/visits/a", &[]);
    assert!(said.text().contains("outside of the request's own open transaction"), "{}", said.text());
    assert_eq!(client.get("/visits").text(), "Some(1)", "the page that read the table is another one now");
    assert_eq!(client.post("/visits/b?kept=false", &[]).status(), 200);
    assert_eq!(client.get("/visits").text(), "Some(1)");
    let hives: Option<i64> = site.db().write(|db| db.one("select count(*) from hive")).unwrap();
    let visits: Option<i64> = site.db_of::<Counters>().write(|db| db.one("select count(*) from visit")).unwrap();
    assert_eq!((hives, visits), (Some(2), Some(1)));
    assert!(folder.path().join("databases/counters/database.sqlite").is_file());
    let lines = app().migrations(&setup).unwrap();
    assert!(lines.iter().any(|line| line.starts_with("counters: 0001_visits.sql")), "{lines:?}");
    assert_eq!(app().check(&setup).unwrap(), [""; 0]);
    std::fs::remove_file(folder.path().join("databases/counters/database.sqlite")).unwrap();
    assert!(site.check_ready().unwrap_err().contains("counters"), "{:?}", site.check_ready());
}

#[test]
fn a_backup_has_all_of_sqlite_and_is_restored_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (data, backup) = (folder.path().join("data"), folder.path().join("backup.sqlite"));
    let mut setup = Setup::default();
    setup.data = data.clone();
    let client = Client::of_site(&Arc::new(app().open(setup.clone()).unwrap()));
    assert_eq!(client.post("/visits/a", &[]).status(), 200);
    let copies = app().back_up(&data, &backup, &HashMap::new()).unwrap();
    let names: Vec<_> = copies.iter().map(|(copy, _)| copy.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["backup.sqlite", "backup.counters.sqlite"]);
    let there = app().back_up(&data, &backup, &HashMap::new()).unwrap_err().to_string();
    assert!(there.contains("there is a file of that name already"), "{there}");
    let elsewhere = HashMap::from([("counters".to_owned(), Secret::new("postgres:///counters".to_owned()))]);
    let first = app().back_up(&data, &folder.path().join("first"), &elsewhere).unwrap();
    assert_eq!(first.len(), 1, "what is in PostgreSQL is copied by its programs");
    assert_eq!(client.post("/visits/b", &[]).status(), 200);
    drop(client);
    let missing = app().restore(&data, &folder.path().join("first"), &HashMap::new()).unwrap_err().to_string();
    assert!(missing.contains("first.counters is not restored, and nothing has changed"), "{missing}");
    let restored = app().restore(&data, &backup, &HashMap::new()).unwrap();
    assert!(restored.len() == 2 && restored.iter().all(|(_, old)| old.as_ref().is_some_and(|old| old.is_file())));
    let client = Client::of_site(&Arc::new(app().open(setup).unwrap()));
    assert_eq!(client.get("/visits").text(), "Some(1)");
}

#[test]
fn one_that_is_not_declared_is_named() {
    let said = Client::new(app()).get("/nowhere");
    assert_eq!(said.status(), 500);
    let cause = said.cause().unwrap_or_default().to_owned();
    assert!(cause.contains("add App::database_of::<") && cause.contains("named::Other>()"), "{cause}");
}

#[test]
fn what_is_wrong_with_one_is_said_at_the_start() {
    let refused = |app: App, setup: Setup| -> String {
        let refused: StartError = app.open(setup).map(drop).unwrap_err();
        refused.to_string()
    };
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let twice = refused(app().database_of::<Counters>(), setup.clone());
    assert!(twice.contains("two databases are named \"counters\""), "{twice}");
    let name = refused(app().database_of::<Other>(), setup.clone());
    assert!(name.contains("has the name \"Other!\"; expected `a` to `z`"), "{name}");
    let mut unknown = setup.clone();
    unknown.databases.insert("visits".to_owned(), Secret::new("postgres:///secret".to_owned()));
    let said = refused(app(), unknown.clone());
    assert!(said.contains("databases.visits.address: the application has no database \"visits\""), "{said}");
    assert!(said.contains("it has counters") && !said.contains("secret"), "{said}");
    assert_eq!(app().check(&unknown).unwrap_err().to_string(), said);
}
