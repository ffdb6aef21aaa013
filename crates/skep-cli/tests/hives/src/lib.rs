//! An application whose statements `skep sql check` has PostgreSQL check. Its tests run them.

mod desk;
mod honey;
mod pages;
mod statements;

use skep::App;
use skep::sql::{Migrations, migrations};

pub use statements::*;

/// For PostgreSQL only.
pub const MIGRATIONS: Migrations = migrations!("migrations");

/// All services.
#[must_use]
pub fn app() -> App {
    App::new()
        .serve(skep::services![
            pages::Hives,
            pages::Visits,
            pages::AddHive,
            pages::AddVisit,
            pages::Move,
            pages::Latest
        ])
        .serve(skep::services![honey::Honey, honey::Fill, honey::Eat, honey::Total])
        .serve(skep::services![desk::Merge, desk::Ask])
        .database(MIGRATIONS)
}

skep::component!(app());
