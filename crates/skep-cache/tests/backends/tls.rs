//! Redis over TLS, with a certificate of our own.

use std::path::Path;
use std::process::{Command, Stdio};

use skep_cache::tiers::Plan;
use skep_cache::{Cache, Error, Result};

use crate::process::{self, Process, on_runtime};

const ADDRESS: &str = "SKEP_CACHE_TEST_ADDRESS";

/// Redis with a certificate for localhost, which stands in the file `cert` of its folder.
fn server(port: u16) -> Process {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let server = Process::start("redis-server", |folder: &Path| {
        let path = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).expect("it can be written");
            folder.join(name).display().to_string()
        };
        let (cert, key) = (path("cert", own.cert.pem()), path("key", own.signing_key.serialize_pem()));
        let port = port.to_string();
        let words =
            ["--port", "0", "--tls-port", &port, "--bind", "127.0.0.1", "--save", "", "--tls-auth-clients", "no"];
        let files = ["--tls-cert-file", &cert, "--tls-key-file", &key, "--tls-ca-cert-file", &cert];
        words.iter().chain(&files).map(|word| (*word).to_owned()).collect()
    });
    process::wait_for("redis-server with TLS", || process::listens_on_port(port));
    server
}

fn set_and_get(address: &str) -> Result<Option<u32>> {
    let driver = Plan::parse([address])?.open("x")?;
    let cache = Cache::<str, u32>::builder("x").errors().build(driver)?;
    on_runtime(async {
        cache.set("a", &7).await?;
        cache.get("a").await
    })
}

/// In a process of its own, as the environment says which certificates it knows.
#[test]
#[ignore = "child process of the test below"]
fn child_process() {
    let address = std::env::var(ADDRESS).expect("the test says it");
    assert_eq!(set_and_get(&address).unwrap(), Some(7));
}

#[test]
fn who_knows_the_certificate_is_served_and_nobody_else() {
    let port = process::free_port();
    let server = server(port);
    let address = format!("rediss://localhost:{port}");
    let refused: Error = set_and_get(&address).unwrap_err();
    assert!(refused.is_unreachable() && refused.to_string().to_lowercase().contains("certificate"), "{refused}");
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls::child_process", "--ignored"])
        .env("SSL_CERT_FILE", server.path("cert"))
        .env(ADDRESS, &address)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let plain = set_and_get(&format!("redis:localhost:{port}")).unwrap_err();
    assert!(plain.is_unreachable(), "{plain}");
}
