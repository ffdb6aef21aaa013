//! Databases of an application beside its first one.

use crate::sql::Migrations;

/// A database of the application beside its first one, [`App::database`](crate::App::database): for what grows fast, is
/// written often, or belongs to somebody else. Handlers reach it by its type.
///
/// ```
/// use skep::prelude::*;
/// use skep::sql::{Migration, Migrations, NamedDatabase, query};
///
/// struct Statistics;
///
/// impl NamedDatabase for Statistics {
///     const NAME: &'static str = "statistics";
///     // An application writes `migrations!("migrations_of_statistics")`.
///     const MIGRATIONS: Migrations =
///         Migrations::new(&[Migration::new(1, "0001_visits.sql", "create table visit (path text not null) strict")]);
/// }
///
/// #[derive(Service)]
/// #[service(GET "/visits")]
/// struct Visits;
///
/// impl Handle for Visits {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let db = cx.db_of::<Statistics>();
///         db.execute(query("insert into visit values (?)", "/visits")).await?;
///         let visits = db.one::<i64>("select count(*) from visit").await?;
///         Ok(Response::text(visits.unwrap_or(0).to_string()))
///     }
/// }
///
/// let app = App::new().serve(services![Visits]).database_of::<Statistics>();
/// assert_eq!(skep::test::Client::new(app).get("/visits").text(), "1");
/// ```
pub trait NamedDatabase: 'static {
    /// Its name, of `a` to `z`, `0` to `9` and `_`. Of SQLite, its file is `databases/NAME/database.sqlite` in the
    /// folder for data; the setting `databases.NAME.address` makes it a PostgreSQL.
    const NAME: &'static str;

    /// Its migrations. [`sql!`](crate::sql!) checks a statement for it with `in`:
    /// `sql!(in "migrations_of_statistics"; "select ...")`.
    const MIGRATIONS: Migrations;
}
