//! The posts' programs on Skep: a hello, two counters, a list from SQLite, and files in the three ways of the post on
//! Dart.
//!
//! It has the flags of every Skep application. Run: `POSTS_FILES=DIR skep-posts --listen 127.0.0.1:PORT --data DIR`.

use std::path::PathBuf;
use std::process::ExitCode;

use skep::App;
use skep::files::Files;
use skep::sql::migrations;

mod counters;
mod files;
mod list;

fn main() -> ExitCode {
    let Some(folder) = std::env::var_os("POSTS_FILES").map(PathBuf::from) else {
        eprintln!("skep-posts: POSTS_FILES does not name the folder to serve");
        return ExitCode::FAILURE;
    };
    skep_server::run(|| {
        App::new()
            .serve(skep::services![counters::Hello, counters::Count])
            .serve(skep::services![list::Page, list::Empty, list::Writing, list::Tagged])
            .serve(skep::services![files::Twice, files::Once, files::BySession])
            .files("/static", Files::dir(&folder))
            .database(migrations!("migrations"))
            .state(files::Public::new(folder))
    })
}
