//! A server that speaks S3, which ends with its test: `versitygw`, over a folder.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use skep::test::Client;
use skep_client::wait_until;
use tempfile::TempDir;

use crate::application::app;

/// Where `cargo xtask setup` builds it.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/versitygw-1.8.0/versitygw");

pub(crate) const BUCKET: &str = "shop";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI";

pub(crate) struct Server {
    folder: TempDir,
    port: u16,
    /// A shell that kills the server when our end of its input is closed, also if the test ends without dropping
    /// anything.
    shell: Option<Child>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(folder.path().join("data").join(BUCKET)).unwrap();
        fs::create_dir(folder.path().join("meta")).unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut server = Self { folder, port, shell: None };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        let shell = Command::new("sh")
            .args(["-c", "\"$@\" & read -r _; kill -KILL $!; wait $!", "sh", PROGRAM])
            .args(["--access", "shop-key", "--secret", SECRET, "--quiet", "--keep-alive"])
            .args(["--port", &format!("127.0.0.1:{}", self.port)])
            .args(["posix", "--sidecar"])
            .arg(self.folder.path().join("meta"))
            .arg(self.folder.path().join("data"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.shell = Some(shell.expect("there is a shell"));
        let is_there = || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
        wait_until(|| format!("{PROGRAM} does not listen: `cargo xtask setup external` builds it"), is_there);
    }

    /// Kills it.
    pub(crate) fn stop(&mut self) {
        let mut shell = self.shell.take().expect("it runs");
        drop(shell.stdin.take());
        shell.wait().expect("it is ours");
    }

    pub(crate) fn address(&self) -> String {
        format!("s3://{BUCKET}/files?endpoint=http://127.0.0.1:{}", self.port)
    }

    /// Where it has the files of the application.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("data").join(BUCKET).join("files")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// An application with its files here.
    pub(crate) fn client(&self, secret: &str) -> Client {
        let settings =
            [("storage.at", &*self.address()), ("storage.access_key", "shop-key"), ("storage.secret_key", secret)];
        Client::with_settings(app(), &settings)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.shell.is_some() {
            self.stop();
        }
    }
}
