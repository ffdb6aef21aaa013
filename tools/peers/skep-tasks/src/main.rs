//! What web applications do all day, on Skep: JSON, a form, a session, many routes, an echo, a page worth compressing,
//! files.
//!
//! It has the flags of every Skep application. Run:
//! `TASKS_FILES=DIR TASKS_ROUTES=2 skep-tasks --listen 127.0.0.1:PORT --data DIR`.

use std::path::PathBuf;
use std::process::ExitCode;

use skep::App;
use skep::files::Files;

mod form;
mod json;
mod page;
mod plain;
mod routes;
mod session;

fn main() -> ExitCode {
    let Some(folder) = std::env::var_os("TASKS_FILES").map(PathBuf::from) else {
        eprintln!("skep-tasks: TASKS_FILES does not name the folder to serve");
        return ExitCode::FAILURE;
    };
    let is_many = std::env::var("TASKS_ROUTES").is_ok_and(|routes| routes == "200");
    skep_server::run(move || {
        let app = App::new()
            .serve(skep::services![plain::Hello, plain::Echo, json::List, form::Sign, session::Home])
            .serve(skep::services![page::Page, page::CachedPage])
            .files("/files", Files::dir(&folder))
            .state(page::Text::read(&folder));
        routes::mount(app, is_many)
    })
}
