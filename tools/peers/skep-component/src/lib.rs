//! What a module cache is for: an application that reads a template from a file and makes a table before it serves.
//!
//! `APP_TEMPLATE` names the template's file, `APP_ENTRIES` says how many entries the table has (none, if nobody says
//! it). The page is that of `peers/neko/Page.hx`: 20 rows from SQLite, through a template that is read at run time.

mod hold;
mod page;
mod table;

use skep::App;
use skep::prelude::*;
use skep::sql::migrations;

/// 13 bytes.
#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

/// The application. Template and table are made here: with a snapshot, once for each version.
///
/// # Panics
///
/// If `APP_TEMPLATE` or `APP_ENTRIES` says something wrong.
#[must_use]
pub fn app() -> App {
    App::new()
        .serve(services![Hello, hold::Hold, page::Page, table::LookUp])
        .database(migrations!("migrations"))
        .state(page::Template::read())
        .state(table::Table::make())
}

skep::component!(app());
