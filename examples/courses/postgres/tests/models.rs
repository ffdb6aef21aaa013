//! Fifty members book ten places at once, of real servers in each process model, on PostgreSQL.

#[path = "../../tests/models/fifty.rs"]
mod fifty;

use std::sync::Arc;

use fifty::{MODELS, prepare, ten_of_fifty};
use skep::{Secret, Setup};
use skep_cluster::Cluster;
use skep_drill::{Server, Subject, folder};

#[test]
#[ignore = "needs PostgreSQL"]
fn fifty_at_once_take_ten_places_in_threads_and_processes() {
    for model in MODELS {
        let (cluster, folder) = (Cluster::start(), folder().unwrap());
        let mut setup = Setup::default();
        setup.data = folder.join("data");
        setup.database = Some(Secret::new(cluster.address()));
        let site = Arc::new(courses::app().open(setup).unwrap());
        let tokens = prepare(&site);
        let database = format!("database={}", cluster.address());
        let arguments = ["--set", "development=true", "--set", &database];
        let subject = Subject::executable(env!("CARGO_BIN_EXE_courses-postgres"), arguments);
        let server = Server::start_in(&subject, folder, &[&["--workers", "2"], model].concat()).unwrap();
        ten_of_fifty(&format!("{model:?}"), &server.address, &site, &tokens);
    }
}
