//! A database of PostgreSQL beside one of SQLite.

use skep::prelude::*;
use skep::sql::{Migrations, NamedDatabase, query};
use skep::test::Client;
use skep::{Secret, Setup};

use super::{MIGRATIONS, shared};

struct Pairs;

impl NamedDatabase for Pairs {
    const NAME: &'static str = "pairs";
    const MIGRATIONS: Migrations = MIGRATIONS;
}

#[derive(Service)]
#[service(POST "/pairs/{key}")]
struct Add {
    key: i64,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let there = cx.db_of::<Pairs>();
        there.execute(query("insert into pair values (?, 'x')", self.key)).await?;
        cx.db().execute(query("insert into pair values (?)", self.key)).await?;
        let here = cx.db().one::<String>("select sqlite_version()").await?.unwrap_or_default();
        let there = there.one::<String>("select version()").await?.unwrap_or_default();
        Ok(Response::text(format!("{here}, {there}")))
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn one_is_of_postgresql_and_the_first_is_of_sqlite() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.databases.insert("pairs".to_owned(), Secret::new(shared().address()));
    let app = App::new().serve(services![Add]).database(MIGRATIONS).database_of::<Pairs>();
    let client = Client::with_setup(app, setup);
    let said = client.post("/pairs/1", &[]);
    assert!(said.text().starts_with("3.") && said.text().contains(", PostgreSQL "), "{}", said.text());
    assert_eq!(client.post("/pairs/1", &[]).status(), 500);
}
