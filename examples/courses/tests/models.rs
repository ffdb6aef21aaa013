//! Fifty members book ten places at once, of real servers in each process model, and as a component, on SQLite.

#[path = "../../helpdesk/tests/support/component.rs"]
mod component;
#[path = "models/fifty.rs"]
mod fifty;

use std::path::Path;
use std::sync::Arc;

use fifty::{MODELS, prepare, ten_of_fifty};
use skep::{Setup, Site};
use skep_drill::{Server, Subject, folder};

#[test]
fn fifty_at_once_take_ten_places_in_threads_and_processes() {
    for model in MODELS {
        let folder = folder().unwrap();
        let site = open(&folder.join("data"));
        let tokens = prepare(&site);
        let subject = Subject::executable(env!("CARGO_BIN_EXE_courses"), ["--set", "development=true"]);
        let server = Server::start_in(&subject, folder, &[&["--workers", "2"], model].concat()).unwrap();
        ten_of_fifty(&format!("{model:?}"), &server.address, &site, &tokens);
    }
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::*;

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn fifty_at_once_take_ten_places_of_a_component() {
        let folder = tempfile::tempdir().unwrap();
        let site = open(&component::Server::data(folder.path()));
        let tokens = prepare(&site);
        let server = component::Server::start(folder, "snapshot", &["--set", "development=true"]);
        ten_of_fifty("component", &server.address, &site, &tokens);
    }
}

/// The application with the data in this folder.
fn open(data: &Path) -> Arc<Site> {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    Arc::new(courses::app().open(setup).unwrap())
}
