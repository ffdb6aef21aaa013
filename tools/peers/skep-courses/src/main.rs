//! Two parts of `examples/courses` without what peers leave out, too: signing in, mails and languages. `x-account` is
//! the number of the user.

use std::process::ExitCode;

use skep::prelude::*;
use skep::sql::migrations;

mod booking;
mod list;
#[cfg(test)]
mod tests;

fn app() -> App {
    App::new()
        .serve(services![list::List, booking::Show, booking::Book, booking::Cancel])
        .database(migrations!("migrations"))
}

fn main() -> ExitCode {
    skep_server::run(app)
}
