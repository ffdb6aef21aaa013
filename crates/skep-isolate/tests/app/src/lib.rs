//! A service for each thing that a component asks of its host. The tests of `skep-isolate` drive it native and as a
//! component.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skep::form::Messages;
use skep::prelude::*;
use skep::sql::{migrations, query};

mod bodies;
mod fetched;
mod instances;
mod notes;
#[path = "../../../../skep-server/tests/server/rules/services.rs"]
mod rules;
mod users;

use bodies::{Echo, Forever, Panic, Pieces};
use fetched::Fetched;
use instances::{Chance, Index, Kept, Word, Words};
use notes::{Add, Errors, Notes};
use users::{Break, Few, Parts, Visit, Visits, Void};

/// A body of 6 bytes, which the server has in a file.
fn file() -> skep::Body {
    vec![0, 1, 2, 3, 4, 5].into()
}

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .serve(services![Index, Word, Chance, Kept, Notes, Add, Errors, Visit, Visits])
        .serve(services![Parts, Void, Break, Echo, Pieces, Panic, Forever, Fetched, Few])
        .serve(rules::SERVICES)
        .languages([Messages::ENGLISH, Messages { language: "de", ..Messages::ENGLISH }])
        .error_page(bodies::sorry)
        .database(migrations!("migrations"))
        .every("tick", Duration::from_millis(20), |site| {
            // What a job keeps in a static is there when it runs again.
            static RUNS: AtomicU32 = AtomicU32::new(0);
            let runs = RUNS.fetch_add(1, Ordering::Relaxed);
            site.db().write(|db| db.execute(query("insert into note (text) values (?)", format!("tick {runs}"))))?;
            Ok(())
        })
        .state(Words((0..1000).map(|number| (format!("word{number}"), number)).collect()))
        .on_start(|site| {
            site.db().write(|db| db.execute("insert or ignore into note (id, text) values (1, 'first')"))?;
            site.invalidate("parts")
        })
}

skep::component!(app());
