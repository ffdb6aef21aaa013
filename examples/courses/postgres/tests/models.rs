//! Fifty members book ten places at once, of real servers in each process model, and as a component, on
//! PostgreSQL.

#[path = "../../../helpdesk/tests/support/component.rs"]
mod component;
#[path = "../../tests/models/fifty.rs"]
mod fifty;

use std::path::Path;
use std::sync::Arc;

use fifty::{MODELS, prepare, ten_of_fifty};
use skep::{Secret, Setup, Site};
use skep_cluster::Cluster;
use skep_drill::{Server, Subject, folder};

#[test]
#[ignore = "needs PostgreSQL"]
fn fifty_at_once_take_ten_places_in_threads_and_processes() {
    for model in MODELS {
        let (cluster, folder) = (Cluster::start(), folder().unwrap());
        let site = open(&folder.join("data"), &cluster);
        let tokens = prepare(&site);
        let database = format!("database={}", cluster.address());
        let arguments = ["--set", "development=true", "--set", &database];
        let subject = Subject::executable(env!("CARGO_BIN_EXE_courses-postgres"), arguments);
        let server = Server::start_in(&subject, folder, &[&["--workers", "2"], model].concat()).unwrap();
        ten_of_fifty(&format!("{model:?}"), &server.address, &site, &tokens);
    }
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::*;

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build; needs PostgreSQL"]
    fn fifty_at_once_take_ten_places_of_a_component() {
        let (cluster, folder) = (Cluster::start(), tempfile::tempdir().unwrap());
        let site = open(&component::Server::data(folder.path()), &cluster);
        let tokens = prepare(&site);
        let database = format!("database={}", cluster.address());
        let arguments = ["--set", "development=true", "--set", &database];
        let server = component::Server::start(folder, "snapshot", &arguments);
        ten_of_fifty("component", &server.address, &site, &tokens);
    }
}

/// The application with the data in this folder, and its database in the cluster.
fn open(data: &Path, cluster: &Cluster) -> Arc<Site> {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    setup.database = Some(Secret::new(cluster.address()));
    Arc::new(courses::app().open(setup).unwrap())
}
