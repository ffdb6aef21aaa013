//! The studio on PostgreSQL: `cargo xtask test external`.

#[path = "../../tests/studio/requests.rs"]
mod requests;

use std::sync::OnceLock;

use skep::{Secret, Setup};
use skep_cluster::Cluster;

/// A new database in a cluster that ends with the process.
fn setup() -> Setup {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(CLUSTER.get_or_init(Cluster::start).address()));
    setup
}

requests::tests!(setup, #[ignore = "needs PostgreSQL"]);
