//! The same with PostgreSQL.

use skep::test::Client;
use skep::{Secret, Setup};
use skep_cluster::Cluster;

use crate::application::app;
use crate::promises::ALL;

#[test]
#[ignore = "needs PostgreSQL"]
fn a_folder_keeps_every_promise_with_postgres() {
    for (name, promise) in ALL {
        println!("{name}");
        let (cluster, mut setup) = (Cluster::start(), Setup::default());
        setup.database = Some(Secret::new(cluster.address()));
        let client = Client::with_setup(app(), setup);
        promise(&client, &client.site().data().join("files"));
    }
}
