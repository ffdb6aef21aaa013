//! TLS, and passwords that do not cross the wire (SCRAM).

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use skep::offload::Inline;
use skep::sql::{Database, Migrations, OpenError, Options};
use skep_cluster::Cluster;

const NONE: Migrations = Migrations::new(&[]).with_postgres(&Migrations::NONE);

/// A server that lets nobody in without TLS and a password, which nobody has yet.
fn cluster(port: u16) -> Cluster {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let prepare = |data: &Path| {
        std::fs::write(data.join("server.crt"), own.cert.pem()).unwrap();
        std::fs::write(data.join("server.key"), own.signing_key.serialize_pem()).unwrap();
        std::fs::set_permissions(data.join("server.key"), PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all all scram-sha-256\n").unwrap();
    };
    let port = format!("port={port}");
    Cluster::prepared(&["ssl=on", "password_encryption=scram-sha-256", "listen_addresses=127.0.0.1", &port], prepare)
}

fn open(address: &str) -> Result<Database, OpenError> {
    Database::open_postgres(address, &NONE, Options::new(), Arc::new(Inline), false)
}

#[test]
#[ignore = "needs PostgreSQL"]
fn the_server_proves_who_it_is_and_so_does_the_user() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cluster = cluster(port);
    let local = open(&format!("{}&port={port}", cluster.address())).unwrap();
    local.write(|db| db.execute("create role ann login password 's3cr3t'").map(drop)).unwrap();
    let certificate = tempfile::NamedTempFile::new().unwrap();
    std::fs::copy(cluster.data().join("server.crt"), certificate.path()).unwrap();
    let ours = format!("sslrootcert={}", certificate.path().display());

    let good = open(&format!("postgres://ann:s3cr3t@localhost:{port}/postgres?sslmode=verify-full&{ours}")).unwrap();
    let is_encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    assert_eq!(good.write(|db| db.one::<bool>(is_encrypted)).unwrap(), Some(true));

    let fails = |address: String| open(&address).unwrap_err().to_string();
    let error = fails(format!("postgres://ann:s3cr3t@localhost:{port}/postgres"));
    assert!(error.contains("TLS: ") && error.contains("sslrootcert=FILE"), "an authority nobody knows: {error}");
    let error = fails(format!("postgres://ann:s3cr3t@127.0.0.1:{port}/postgres?sslmode=require&{ours}"));
    assert!(error.contains("TLS: "), "another name: {error}");
    let error = fails(format!("postgres://ann:wr0ng@localhost:{port}/postgres?sslmode=require&{ours}"));
    assert!(error.contains("password authentication failed") && !error.contains("wr0ng"), "{error}");
    assert!(open(&format!("postgres://ann:s3cr3t@localhost:{port}/postgres?sslmode=disable")).is_err());
}
